"""Levels hold any online calibrator, and treat it as they treat AutoLARC."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import ARC, LARC, RBF, AutoLARC, Mondrian, Safeguard
from localarc.models.kinds.intervals import IntervalKind
from localarc.models.levels import Levels

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(300, 2))
KIND = IntervalKind()
OUTPUTS = KIND.outputs(lambda rows: rows[:, 0], X, None)
Y = X[:, 0] + RANDOM.normal(size=300)

MAKERS: dict[str, Callable[[float], Any]] = {
    "AutoLARC": AutoLARC,
    "ARC": ARC,
    "LARC": lambda alpha: LARC(alpha, RBF(1.0)),
    "Mondrian": lambda alpha: Mondrian(lambda: ARC(alpha), lambda x: bool(x[0] > 0)),
    "Safeguard": lambda alpha: Safeguard(ARC(alpha)),
}


def run(levels: Levels, work: Any) -> Any:
    levels.journal.run(work.steps)
    return work.result()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_levels_learn_with_any_calibrator(make: Callable[[float], Any]) -> None:
    levels = Levels(KIND, [0.8, 0.9], make)
    run(levels, levels.learn(X[:200], None, OUTPUTS[:200], Y[:200]))
    ids, played = run(levels, levels.ask(X[200:], None, OUTPUTS[200:]))
    assert (played[:, 1] >= played[:, 0]).all()
    late, told = np.arange(98, -1, -1), np.arange(298, 199, -1)
    learned = run(levels, levels.tell(ids[late], played[late], OUTPUTS[told], Y[told]))
    levels.journal.run(levels.forget(ids[99:]))
    assert learned.losses.shape == (99, 2)
    assert all(cal.pending_count == 0 and cal.consistent for cal in levels.each)
    assert levels.rounds == 299
