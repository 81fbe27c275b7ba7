"""Intervals: how long without feedback is too long."""

import random

import pytest

from localarc.monitoring.intervals import Intervals

DAY = 86_400.0


def after(times: list[float]) -> Intervals:
    made = Intervals()
    for time in times:
        made.add(time)
    return made


@pytest.mark.parametrize("interval", [0.1, 1.0, 60.0, 3600.0, DAY, 7 * DAY])
def test_the_median_of_regular_feedback_is_its_interval(interval: float) -> None:
    made = after([1e9 + interval * t for t in range(100)])
    assert made.median == pytest.approx(interval, rel=0.2)
    assert made.deadline == pytest.approx(1e9 + 99 * interval + 10 * interval, rel=0.01)


def test_nothing_is_overdue_before_five_intervals() -> None:
    assert after([]).deadline is None
    assert after([0.0, 1.0, 2.0, 3.0, 4.0]).deadline is None
    assert after([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).deadline is not None


def test_feedback_in_nightly_batches_is_due_after_days() -> None:
    times = [night * DAY + 0.05 * row for night in range(6) for row in range(400)]
    made = after(times)
    assert made.median == pytest.approx(DAY, rel=0.2)


def test_feedback_at_one_time_is_one_arrival() -> None:
    made = after([60.0 * (t // 50) for t in range(1000)])
    assert made.known == 19
    assert made.median == pytest.approx(60.0, rel=0.2)


def test_one_outage_is_no_rhythm() -> None:
    before = [float(t) for t in range(100)]
    made = after([*before, *(t + 3 * 3600.0 for t in before)])
    assert made.median == pytest.approx(1.0, rel=0.2)


def test_a_slower_rhythm_is_learned_and_the_old_one_fades() -> None:
    fast = [0.5 * t for t in range(4000)]
    slow = [fast[-1] + 600.0 * t for t in range(1, 40)]
    assert after([*fast, *slow]).median == pytest.approx(600.0, rel=0.2)
    months = [DAY * t for t in range(200)]
    quick = [months[-1] + 3600.0 * t for t in range(1, 1500)]
    assert after([*months, *quick]).median == pytest.approx(3600.0, rel=0.2)


def test_a_time_somewhat_before_the_last_changes_nothing() -> None:
    made = after([0.0, 10.0, 20.0])
    weights = made.weights.tolist()
    made.add(5.0)
    assert (made.last, made.weights.tolist(), made.known) == (20.0, weights, 2)


def test_a_clock_that_was_far_ahead_for_a_moment_does_not_hide_silence() -> None:
    regular = [60.0 * t for t in range(100)]
    made = after([*regular, 1e9, *(regular[-1] + time for time in regular[1:])])
    assert made.last == 2 * regular[-1]
    assert made.median == pytest.approx(60.0, rel=0.2)


def test_random_feedback_is_not_overdue_by_chance() -> None:
    rng, made, time, overdue = random.Random(0), Intervals(), 0.0, 0
    for _ in range(20_000):
        time += rng.expovariate(1.0)
        overdue += made.deadline is not None and time > made.deadline
        made.add(time)
    assert overdue == 0
