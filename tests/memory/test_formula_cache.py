"""A user's formula is compiled once while it is in use, and not kept for ever."""

import gc
import weakref
from collections import deque

import pytest

from localarc import LARC, KeepAll
from localarc.kernels import Radial
from localarc.memory import compiled_expansion
from localarc.memory.compiled_expansion import profile


def test_a_formula_is_compiled_once_for_all_kernels_that_use_it() -> None:
    def formula(u: float) -> float:
        return 1.0 / (1.0 + u)

    first = profile(Radial(formula, 0.5), 1)
    assert first is not None
    assert profile(Radial(formula, 2.0), 2) is first


@pytest.mark.slow
def test_a_formula_that_nobody_uses_is_freed_with_its_compiled_loops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_expansion, "_recent", deque(maxlen=1))
    used = LARC(0.1, Radial(lambda u: 1.0 / (1.0 + 2.0 * u)), memory=KeepAll()).update([0.0], 1.0)
    dropped = LARC(0.1, Radial(lambda u: 1.0 / (1.0 + 3.0 * u)), memory=KeepAll())
    dropped.update([0.0], 1.0)
    functions = [weakref.ref(cal.kernel.function) for cal in (used, dropped)]  # type: ignore[attr-defined]
    entries = len(compiled_expansion._in_use)
    del dropped
    profile(Radial(lambda u: 1.0 / (1.0 + 4.0 * u)), 1)  # takes the only place among the recent
    gc.collect()
    assert [function() is None for function in functions] == [False, True]
    assert len(compiled_expansion._in_use) == entries
