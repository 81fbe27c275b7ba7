"""Groups come from a function or with each call, never from both."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localarc import ARC, Mondrian


def side(x: Any) -> bool:
    return bool(x[0] > 0)


CALLS: dict[str, Callable[[Mondrian], object]] = {
    "one threshold": lambda cal: cal.threshold([1.0], "a"),
    "many thresholds": lambda cal: cal.threshold(np.ones((2, 1)), ["a", "b"]),
    "one update": lambda cal: cal.update([1.0], 1.0, groups="a"),
    "many updates": lambda cal: cal.partial_fit(np.ones((2, 1)), [1.0, 0.0], groups=["a", "b"]),
    "function, one": lambda cal: cal.threshold_function([1.0], "a"),
    "function, many": lambda cal: cal.threshold_function(np.ones((2, 1)), ["a", "b"]),
    "average, many": lambda cal: cal.averaged_threshold_function(np.ones((2, 1)), ["a", "b"]),
}
every_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@every_call
def test_a_group_besides_a_group_function_is_rejected(call: Callable[[Mondrian], object]) -> None:
    cal = Mondrian(lambda: ARC(0.1), side).update([1.0], 1.0).update([-1.0], 0.0)
    before = cal.state()
    with pytest.raises(ValueError, match=r"group 'a' was given, but this Mondrian has a group_of"):
        call(cal)
    assert cal.state() == before


@every_call
def test_a_group_without_a_group_function_is_accepted(call: Callable[[Mondrian], object]) -> None:
    cal = Mondrian(lambda: ARC(0.1)).update([1.0], 1.0, groups="a")
    call(cal.update([1.0], 0.0, groups="b"))


@pytest.mark.parametrize("many", [False, True])
def test_the_group_function_decides_when_nothing_is_given(many: bool) -> None:
    cal = Mondrian(lambda: ARC(0.1), side).update([1.0], 1.0).update([-1.0], 0.0)
    at: Any = np.array([[1.0], [-1.0]])
    found = cal.threshold(at).tolist() if many else [cal.threshold(x) for x in at]
    assert found == [0.9, -0.1]
