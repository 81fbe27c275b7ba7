import gzip
from pathlib import Path

import numpy as np
import pytest

from localarc_lab import data
from localarc_lab.experiments.electricity import data as electricity
from localarc_lab.experiments.electricity.data import DAY, Demand, prepare, without_repeated_day


@pytest.fixture(scope="module")
def series(elec2: str) -> Demand:
    return electricity.load()


def test_forecast_and_features_are_the_stated_means() -> None:
    demand = np.random.default_rng(0).uniform(size=20 * DAY)
    prepared = prepare(demand)
    for i in (0, 1, 100, len(prepared) - 1):
        t = i + 7 * DAY
        assert prepared.demand[i] == demand[t]
        assert prepared.forecast[i] == pytest.approx(demand[t - 96 : t - 48].mean())
        days = [demand[t - k * DAY : t - (k - 1) * DAY].mean() for k in range(1, 8)]
        assert prepared.features[i] == pytest.approx(days)


@pytest.mark.parametrize("t", [8 * DAY, 8 * DAY + 17, 15 * DAY + 1])
def test_nothing_before_changes_when_the_future_does(t: int) -> None:
    demand = np.random.default_rng(0).uniform(size=20 * DAY)
    other = demand.copy()
    other[t:] = np.random.default_rng(1).uniform(size=len(demand) - t)
    one, two = prepare(demand), prepare(other)
    known = t - 7 * DAY + 1  # round t itself is forecast without its own demand
    assert np.array_equal(one.forecast[:known], two.forecast[:known])
    assert np.array_equal(one.features[:known], two.features[:known])
    assert not np.array_equal(one.features[known:], two.features[known:])


def test_a_day_that_is_not_repeated_is_not_dropped() -> None:
    with pytest.raises(ValueError, match="not a repetition"):
        without_repeated_day(np.random.default_rng(0).uniform(size=400 * DAY))


def test_the_repeated_day_is_gone_and_the_calendar_is_true(series: Demand) -> None:
    assert len(series) == (944 - 1 - 7) * DAY
    assert series.times[0] == np.datetime64("1996-05-14T00:00")
    assert series.times[-1] == np.datetime64("1998-12-05T23:30")
    day = series.times.astype("datetime64[D]")
    daily = {d: series.demand[day == d].mean() for d in np.unique(day)}
    sunday = np.datetime64("1997-05-04")
    assert electricity.DAYS[series.weekday[np.argmax(day == sunday)]] == "Sunday"
    assert daily[sunday] != daily[sunday + 1]


@pytest.mark.parametrize(
    ("holiday", "name"),
    [("1996-12-25", "Wednesday"), ("1997-01-01", "Wednesday"), ("1997-04-25", "Friday")],
)
def test_public_holidays_are_weekdays_of_low_demand(
    series: Demand, holiday: str, name: str
) -> None:
    day = series.times.astype("datetime64[D]")
    date = np.datetime64(holiday)
    assert electricity.DAYS[series.weekday[np.argmax(day == date)]] == name
    mine = series.demand[day == date].mean()
    others = [series.demand[day == date + 7 * k].mean() for k in (-3, -2, 2, 3)]
    assert mine < 0.75 * min(others)


def test_weekends_are_saturdays_and_sundays(series: Demand) -> None:
    names = {electricity.DAYS[d] for d in series.weekday[series.weekend]}
    assert names == {"Saturday", "Sunday"}
    stream = series.take(slice(0, 2000)).stream()
    assert set(stream.groups or ()) == {"weekday", "weekend"}
    assert stream.curves.loss_at(5, abs(series.demand[5] - series.forecast[5])) == 0.0


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "nswdemand\nlots\n", "nswdemand\n0.5\n"])
def test_any_other_file_is_rejected_with_the_command_to_run(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(data.DataError, match="localarc data get elec2"):
        electricity.load(tmp_path / "x.csv")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(content.encode()))
    with pytest.raises(data.DataError, match="localarc data get elec2"):
        electricity.load(tmp_path / "x.csv.gz")
