"""The trace of c: many rounds at once are the rounds one by one, to the last bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import ARC, Constant, replay
from localarc.adaptive.running_constant import RunningConstant
from localarc.curves import miscoverage
from localarc.rates import InverseSqrt, Rate

losses = st.lists(st.floats(0.0, 2.0), max_size=40)


def course_of(start: float, rates: Any, excesses: Any, floor: float) -> tuple[Any, Any]:
    """c of every round and the one after, and c before the floor."""
    constants, pushed = [start], []
    for rate, excess in zip(rates.tolist(), excesses.tolist(), strict=True):
        pushed.append(constants[-1] + rate * excess)
        constants.append(max(pushed[-1], floor))
    return np.array(constants), np.array(pushed)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    early=losses,
    late=losses,
    start=st.floats(-5.0, 5.0),
    constant_rate=st.booleans(),
    floor=st.sampled_from([-np.inf, -5.0]),
)
def test_many_rounds_at_once_are_the_rounds_one_by_one(
    early: list[float], late: list[float], start: float, constant_rate: bool, floor: float
) -> None:
    rate: Rate = Constant(0.3) if constant_rate else InverseSqrt(0.8)
    alpha = 0.35
    stepped, extended, compiled = (
        RunningConstant(start),
        RunningConstant(start),
        RunningConstant(start),
    )
    for t, loss in enumerate([*early, *late], start=1):
        stepped.step(rate(t), loss, rate(t) * (loss - alpha), floor)
    both = len(early) + len(late)
    for rates, part in (
        (rate.values(1, len(early) + 1), np.array(early)),
        (rate.values(len(early) + 1, both + 1), np.array(late)),
    ):
        extended.extend(rates, part, *course_of(extended.constant, rates, part - alpha, floor))
        compiled.extend_compiled(rates, part, alpha, floor)
    assert extended.values() == stepped.values()
    assert compiled.values() == stepped.values()
    assert type(compiled.rounds) is int


@settings(max_examples=80, derandomize=True, deadline=None)
@given(course=losses, start=st.floats(-5.0, 5.0))
def test_the_trace_is_what_its_constants_say(course: list[float], start: float) -> None:
    alpha, trace = 0.35, RunningConstant(start)
    c, weighted, before = [start], 0.0, 0.0
    for t, loss in enumerate(course, start=1):
        eta = 0.8 / t**0.5
        trace.step(eta, loss, eta * (loss - alpha))
        weighted += (1 / eta - before) * c[-1]
        before = 1 / eta
        c.append(c[-1] + eta * (loss - alpha))
    assert trace.rounds == len(course)
    assert (trace.lowest, trace.highest) == pytest.approx((min(c), max(c)), abs=1e-12)
    assert trace.constant == pytest.approx(c[-1], abs=1e-12)
    assert trace.constant_sum == pytest.approx(sum(c[:-1]), abs=1e-9)
    assert trace.weighted == pytest.approx(weighted, abs=1e-9)
    assert trace.loss_sum == pytest.approx(sum(course), abs=1e-9)


@pytest.mark.filterwarnings("ignore::localarc.PromiseWarning")  # one starts far above all scores
@pytest.mark.parametrize("start", [-4.0, 0.5, 6.0])
def test_a_replay_leaves_the_trace_of_the_online_loop(start: float) -> None:
    curves = miscoverage(np.random.default_rng(0).uniform(size=200))
    online, replayed = (ARC(0.2, 0.7, initial_threshold=start) for _ in range(2))
    for t in range(200):
        online.update(None, curves.loss_at(t, online.threshold(None)))
    replay(replayed, np.zeros((200, 1)), curves)
    assert replayed.state() == online.state()
