"""From a frame of forecasts to arrays, and from thresholds to columns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.forecasting.rounds import Places
from localarc.forecasting.separate import Batch
from localarc.forecasting.settings import BandsSettings
from localarc.tables import columns
from localarc.tables.columns import Times
from localarc.validation import FloatArray, IntArray

POINT = "yhat"
CUTOFF = "cutoff"


@dataclass(frozen=True)
class Forecasts:
    """The columns of a frame of forecasts."""

    labels: list[Hashable]
    times: Times
    low: FloatArray  # the point forecast, or the quantiles
    high: FloatArray
    prefix: str  # of the columns that are added

    def batch(self, rows: IntArray, series: IntArray, horizon: int) -> Batch:
        """Some rows, made at one time, as rounds; `series` are their numbers."""
        time = self.times.values[rows]
        places = Places(series, steps(series, time, horizon), self.times.phase[rows])
        return Batch(places, time, self.low[rows], self.high[rows])


def read_forecasts(frame: Any, name: str, settings: BandsSettings) -> Forecasts:
    """The columns, checked."""
    columns.require(frame, name, *settings.keys, *(settings.quantiles or ()))
    prefix = ""
    if settings.quantiles is not None:
        low, high = (columns.numbers(frame, column) for column in settings.quantiles)
        if (low > high).any():
            row = int(np.flatnonzero(low > high)[0])
            raise ValueError(
                f"the lower quantile {low[row]} is above the upper one {high[row]} in row {row}, "
                "counted from 0. Sort crossing quantiles first."
            )
    else:
        column = point_column(frame, name, settings)
        low = high = columns.numbers(frame, column)
        prefix = "" if column == POINT else f"{column}-"
    taken = [column for column in band_names(prefix, settings) if column in frame.columns]
    if taken:
        raise ValueError(f"{name} already has a column {taken[0]!r}. Rename or drop it first.")
    labels, when = columns.labels(frame, settings.by), columns.times(frame, settings.time)
    return Forecasts(labels, when, low, high, prefix)


def point_column(frame: Any, name: str, settings: BandsSettings) -> str:
    """The column of point forecasts."""
    if settings.model is not None:
        columns.require(frame, name, settings.model)
        return settings.model
    if POINT in frame.columns:
        return POINT
    known = {*settings.keys, settings.target, CUTOFF}
    found = [c for c in frame.columns if c not in known and frame[c].dtype.is_numeric()]
    if len(found) != 1:
        raise ValueError(
            f"{name} must have one column of forecasts, found {found or 'none'}. "
            'Say which one is meant: Bands(model="AutoARIMA").'
        )
    return str(found[0])


def steps(series: IntArray, time: IntArray, horizon: int) -> IntArray:
    """How many earlier times of the same series each row has: 0, 1, 2, ..."""
    order = np.lexsort((time, series))
    sorted_series, sorted_time = series[order], time[order]
    first = starts(sorted_series)
    if (~first[1:] & (sorted_time[1:] == sorted_time[:-1])).any():
        raise ValueError(
            "the forecasts have two rows for the same series and time. Predict once for each time "
            "that forecasts were made; replay accepts several, told apart by a column 'cutoff'."
        )
    places = np.arange(len(series))
    found = np.empty(len(series), np.int64)
    found[order] = places - places[first][np.cumsum(first) - 1]
    if len(found) and found.max() >= horizon:
        raise ValueError(
            f"a series has {found.max() + 1} forecasts, but the horizon is {horizon}. "
            f"Use Bands(horizon={found.max() + 1}), or pass fewer steps."
        )
    return found


def starts(values: IntArray) -> NDArray[np.bool_]:
    """Where a new value begins in sorted values."""
    first = np.ones(len(values), bool)
    first[1:] = values[1:] != values[:-1]
    return first


def band_names(prefix: str, settings: BandsSettings) -> list[str]:
    """The names of the columns that are added, from the widest band's lower end upwards."""
    levels = [f"{100.0 * level:g}" for level in settings.coverage]
    lows, highs = [f"{prefix}lo-{n}" for n in levels], [f"{prefix}hi-{n}" for n in levels]
    return [*reversed(lows), *highs]


def band_columns(
    forecasts: Forecasts, thresholds: FloatArray, settings: BandsSettings
) -> dict[str, FloatArray]:
    """The lower and upper ends of all bands."""
    middle = 0.5 * (forecasts.low + forecasts.high)[:, None]  # where a band at its floor is a point
    lows = np.minimum(forecasts.low[:, None] - thresholds, middle)
    highs = np.maximum(forecasts.high[:, None] + thresholds, middle)
    ends = [*lows.T[::-1], *highs.T]
    return dict(zip(band_names(forecasts.prefix, settings), ends, strict=True))
