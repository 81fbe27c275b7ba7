"""Hourly series with forecasts of the next 24 hours, made every hour, as long frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks import nycflights
from localarc.validation import FloatArray
from localarc_lab.experiments.electricity import data

HORIZON = 24
WEEK, DAY = 168, 24
CARRY = 0.94  # of the deviation from the last season that is left after an hour


def elec2() -> Any:
    """Elec2's demand by the hour, forecast from the week before."""
    found = data.load()
    demand = found.demand.reshape(-1, 2).mean(axis=1)
    hours = found.times[0] + np.timedelta64(1, "h") * np.arange(len(demand))
    return history(pd.DataFrame({"NSW": demand}, index=pd.DatetimeIndex(hours)), WEEK)


def weather(column: str) -> Any:
    """The weather at New York's three airports in 2013, forecast from the day before."""
    table = nycflights.weather()
    table = table.assign(ds=pd.to_datetime(table.time_hour).dt.tz_localize(None))
    table = table.drop_duplicates(["origin", "ds"])
    wide = table.pivot(index="ds", columns="origin", values=column)
    return history(wide.reindex(pd.date_range(wide.index[0], wide.index[-1], freq="h")), DAY)


def history(wide: Any, season: int) -> Any:
    """All forecasts of all series, with the cutoff and, where it is known, the outcome."""
    parts = [_one(name, wide.index, wide[name], season) for name in wide.columns]
    return pd.concat(parts, ignore_index=True)


def _one(name: str, hours: Any, values: Any, season: int) -> Any:
    known, filled = values.to_numpy(), values.ffill().to_numpy()
    now = np.arange(season, len(known) - HORIZON)[:, None]
    ahead = np.arange(1, HORIZON + 1)[None, :]
    return pd.DataFrame(
        {
            "unique_id": name,
            "ds": hours.to_numpy()[now + ahead].ravel(),
            "cutoff": np.repeat(hours.to_numpy()[now.ravel()], HORIZON),
            "yhat": seasonal(filled, now, ahead, season).ravel(),
            "y": known[now + ahead].ravel(),
        }
    )


def seasonal(values: FloatArray, now: Any, ahead: Any, season: int) -> FloatArray:
    """The value one season before, plus what is left of how far that is off now."""
    off = values[now] - values[now - season]
    return np.asarray(values[now + ahead - season] + CARRY**ahead * off)
