"""What bands guarantee: bounds that no outcome can break, and a verdict in words."""

import re

import numpy as np
import pandas as pd
import pytest

from localarc.forecasting import Bands


def play(bands: Bands, choose: str, rounds: int = 200, seed: int = 0) -> Bands:
    """Outcomes chosen against the bands: outside, inside, by turns, or at random."""
    rng, horizon = np.random.default_rng(seed), 3
    waiting: dict[tuple[int, int], float] = {}
    for t in range(rounds):
        ds = np.arange(t + 1, t + 1 + horizon)
        out = bands.predict(pd.DataFrame({"ds": ds, "yhat": rng.normal(size=horizon)}))
        top = float(out["hi-90"].max())
        attack = {
            "outside": True,
            "inside": False,
            "by turns": (t // 40) % 2 == 0,
            "at random": rng.random() < 0.3,
        }[choose]
        capped = min(top + 1.0, 1000.0)  # scores have some largest value
        waiting[t + 1, 0] = capped if attack else float(out["yhat"].iloc[0])
        late = [key for key in waiting if rng.random() < 0.6]
        frame = pd.DataFrame({"ds": [key[0] for key in late], "y": [waiting.pop(k) for k in late]})
        if late:
            bands.observe(frame)
    return bands


@pytest.mark.slow
@pytest.mark.parametrize("choose", ["outside", "inside", "by turns", "at random"])
@pytest.mark.parametrize("seed", range(2))
def test_no_outcomes_contradict_the_bounds_of_any_series_and_step(choose: str, seed: int) -> None:
    found = play(Bands(horizon=3, by=None), choose, seed=seed).certificate()
    for node in (found, *found.series.values(), *found.steps.values()):
        assert node.above.holds
        assert -node.below.value - 1e-9 <= node.risk - 0.1 <= node.above.value + 1e-9
        assert node.excess == pytest.approx(node.rounds * (node.risk - 0.1))


@pytest.mark.slow
def test_bounds_shrink_as_outcomes_arrive() -> None:
    few, many = (
        play(Bands(horizon=3, by=None), "at random", rounds).certificate() for rounds in (150, 600)
    )
    assert many.above.value < 0.7 * few.above.value
    assert many.above.value < 0.5


def test_before_the_first_outcome_nothing_is_guaranteed() -> None:
    found = Bands(horizon=3).certificate()
    assert not found.above.holds
    assert found.verdict.state == "too early"
    assert np.isnan(found.risk)


@pytest.mark.slow
def test_the_summary_leads_with_the_verdict() -> None:
    rng = np.random.default_rng(0)
    bands = Bands(coverage=[0.5, 0.9], horizon=2)
    for t in range(250):
        names = np.repeat(["North", "South"], 2)
        frame = {"unique_id": names, "ds": [t, t + 1, t, t + 1], "yhat": 0.0}
        bands.predict(pd.DataFrame(frame))
        y = {"unique_id": ["North", "South"], "ds": t, "y": rng.normal(size=2)}
        bands.observe(pd.DataFrame(y))
    first, *levels, start, last = bands.summary().splitlines()
    assert first.startswith("Misses ")
    assert "target" in first
    assert [line.split(":")[0] for line in levels] == [
        *("50 %", "  by step", "  by series"),
        *("90 %", "  by step", "  by series"),
    ]
    assert start.split(":")[0].endswith("went out before enough outcomes were known")
    assert last == "2 forecasts of 2 series are pending"


def test_the_summary_lists_hours_and_weekdays_beside_steps_and_series() -> None:
    bands = Bands(horizon=2, initial_threshold=0.0)
    start = pd.Timestamp("2026-01-05")  # a Monday
    hours = [start + pd.Timedelta(hours=6 * t) for t in range(602)]
    for t in range(600):
        now = {"unique_id": ["a", "a"], "ds": hours[t : t + 2], "yhat": 0.0}
        out = bands.predict(pd.DataFrame(now))
        is_bad = hours[t].hour == 18 and hours[t].weekday() < 5
        y = 1.001 * float(out["hi-90"].iloc[0]) + 1e-6 if is_bad and t % 3 else 0.01 * (t % 7)
        bands.observe(pd.DataFrame({"unique_id": ["a"], "ds": [hours[t]], "y": [y]}))
    found = bands.certificate()
    assert [*found.hours] == [0, 6, 12, 18]
    assert found.hours[18].rounds == pytest.approx(found.rounds / 4, abs=2)
    assert found.hours[18].risk > 3 * found.hours[6].risk
    assert [*found.weekdays][::6] == ["Monday", "Sunday"]
    counts = [part.rounds for part in found.weekdays.values()]
    assert sum(counts) == sum(part.rounds for part in found.hours.values()) == found.rounds
    text = bands.summary()
    assert re.search(
        r"  by hour: [0-9.]+ to [0-9.]+ % \(18\)\n  by weekday: 7 of 7 with too few", text
    )
    assert Bands.from_state(bands.state()).certificate() == found


def daily(days: int, by: str, steps: int) -> Bands:
    """Bands after so many paths, each of which is known before the next is forecast."""
    bands = Bands(horizon=steps, by=None)
    times = pd.date_range("2024-01-01", periods=days * steps, freq=by)
    for t in range(0, len(times), steps):
        ds = times[t : t + steps]
        bands.predict(pd.DataFrame({"ds": ds, "yhat": 0.0}))
        bands.observe(pd.DataFrame({"ds": ds, "y": 0.01 * ((t + np.arange(steps)) % 7)}))
    return bands


def test_a_path_has_one_step_in_each_hour_and_many_on_a_weekday() -> None:
    found = daily(120, "h", 24).certificate()
    assert found.times == found.rounds / 24
    assert all(part.times == part.rounds for part in found.hours.values())
    assert all(part.times == part.rounds / 24 for part in found.weekdays.values())
    assert all(
        part.times == part.rounds for part in daily(60, "D", 7).certificate().weekdays.values()
    )
    quarters = daily(60, "15min", 96).certificate()
    assert all(part.times == part.rounds / 4 for part in quarters.hours.values())


def test_the_summary_says_what_its_rounds_are_and_excludes_nothing_impossible() -> None:
    few, many = daily(2, "h", 24).summary(), daily(120, "h", 24).summary()
    assert "24 forecasts (about 1 independent); theorem E excludes nothing\n" in few
    assert re.search("; theorem E excludes more than [0-9.]+ %\n", many)
    assert re.search("by hour: [0-9.]+ to [0-9.]+ %", many)


def test_a_printed_certificate_has_numbers_that_a_person_can_read() -> None:
    assert "target 0.1\n" in str(daily(2, "h", 24).certificate())


def test_hours_and_weekdays_are_those_of_the_level() -> None:
    bands = Bands(coverage=[0.5, 0.9], horizon=1, initial_threshold=0.0)
    random, missed = np.random.default_rng(3), {0.5: [0.0, 0.0], 0.9: [0.0, 0.0]}
    for t in range(60):
        when = pd.Timestamp("2026-01-05") + pd.Timedelta(hours=12 * t)
        out = bands.predict(pd.DataFrame({"unique_id": ["a"], "ds": [when], "yhat": 0.0}))
        y = float(random.normal())
        bands.observe(pd.DataFrame({"unique_id": ["a"], "ds": [when], "y": [y]}))
        for level, counts in missed.items():
            counts[t % 2] += abs(y) > float(out[f"hi-{100 * level:g}"].iloc[0])
    for level, counts in missed.items():
        found = bands.certificate(level)
        assert {h: part.risk * 30.0 for h, part in found.hours.items()} == pytest.approx(
            {0: counts[0], 12: counts[1]}
        )
        assert sum(part.risk * part.rounds for part in found.weekdays.values()) == pytest.approx(
            sum(counts)
        )


def test_counts_without_times_have_no_hours() -> None:
    bands = Bands(horizon=1)
    for t in range(30):
        bands.predict(pd.DataFrame({"unique_id": ["a"], "ds": t, "yhat": 0.0}))
        bands.observe(pd.DataFrame({"unique_id": ["a"], "ds": t, "y": 0.1}))
    found = bands.certificate()
    assert not found.hours
    assert not found.weekdays


def test_a_series_that_misses_too_often_is_named_first() -> None:
    bands = Bands(horizon=1, initial_threshold=0.0)
    for t in range(240):
        frame = {"unique_id": ["North", "South"], "ds": t, "yhat": 0.0}
        out = bands.predict(pd.DataFrame(frame))
        outside = 1.001 * float(out["hi-90"].iloc[1]) + 1e-6 if t % 3 == 0 else 0.0
        y = {"unique_id": ["North", "South"], "ds": t, "y": [0.01 * (t % 7), outside]}
        bands.observe(pd.DataFrame(y))
    verdict = bands.certificate().verdict
    assert verdict.state == "not kept"
    assert verdict.text.startswith("South misses 33")


def test_an_unknown_level_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"must be one of \[0.9\], got 0.8"):
        Bands().certificate(0.8)
