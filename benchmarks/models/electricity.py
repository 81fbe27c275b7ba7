"""Elec2: half-hourly demand and price of electricity in New South Wales (Harries 1999)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.models.streams import Rows
from localarc_lab import data
from localarc_lab.experiments.electricity.data import DAY, REPEATED_DAY

_COLUMNS = ("period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer", "direction")
_FEATURES = _COLUMNS[:-1]
_FIRST_WEEKDAY = 1  # a Tuesday


def demand() -> Rows:
    """Demand half an hour later."""
    return _next("nswdemand")


def price() -> Rows:
    """Price half an hour later."""
    return _next("nswprice")


def price_direction() -> Rows:
    """Whether the price half an hour later is above or below its mean of the day before."""
    known = _known()
    later = np.where(np.isin(known["direction"].astype(str), ["UP", "1"]), "up", "down")
    return Rows(_features(known, "nswprice"), later[DAY:], _weekends(known)[DAY:])


def _next(target: str) -> Rows:
    known = _known()
    later = known[target].to_numpy(np.float64)
    return Rows(_features(known, target), later[DAY:], _weekends(known)[DAY:])


def _features(known: pd.DataFrame, target: str) -> pd.DataFrame:
    """What was known half an hour before, the time, and the target of the day before."""
    before = known[[*_FEATURES]].astype(np.float64).iloc[DAY - 1 : -1].reset_index(drop=True)
    period = known["period"].to_numpy(np.float64)[DAY:]
    same_time = known[target].to_numpy(np.float64)[:-DAY]
    return before.assign(**{"period": period, "day before": same_time})


def _weekends(known: pd.DataFrame) -> NDArray[np.str_]:
    weekday = (_FIRST_WEEKDAY + np.arange(len(known)) // DAY) % 7
    return np.where(weekday >= 5, "weekend", "working day")


def _known() -> pd.DataFrame:
    """Every half-hour; the last seven columns are the same in both forms of the file."""
    folder = data.get("elec2")
    file = next(p for p in (folder / name for name in data.DATASETS["elec2"].files) if p.exists())
    found = pd.read_csv(file).iloc[:, -len(_COLUMNS) :].set_axis([*_COLUMNS], axis=1)
    repeated = np.arange(REPEATED_DAY * DAY, (REPEATED_DAY + 1) * DAY)
    return found.drop(index=repeated).reset_index(drop=True)
