"""Electricity demand (Elec2) with a forecast that uses only the past."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.curves import miscoverage, residual
from localarc.streams.stream import Stream
from localarc.validation import FloatArray
from localarc_lab import data

DAY = 48  # half-hours
FIRST_DAY = np.datetime64("1996-05-07")
REPEATED_DAY = 363  # Sunday 4 May 1997 is in the file twice, as days 362 and 363
WARM_UP = 7 * DAY
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Of the demand in millionths, as little-endian 64-bit integers: independent of the file format.
SERIES_SHA256 = "91509a886a0897024ea965af0cc0757837dd3a7c614327d57e58596aff04180c"
_COLUMNS = ("nswdemand", "feat_3")  # its name in OpenML's file and in scikit-multiflow's


@dataclass(frozen=True, eq=False)
class Demand:
    """Demand per half-hour with its forecast and features, from the eighth day on.

    `forecast` is the mean demand 24 to 48 hours before; `features` are the daily mean demands of
    the past seven days. Neither uses a value at or after its own half-hour.
    """

    demand: FloatArray
    forecast: FloatArray
    features: FloatArray
    times: NDArray[np.datetime64]

    def __len__(self) -> int:
        return len(self.demand)

    @property
    def weekday(self) -> NDArray[np.int64]:
        """Day of the week, 0 for Monday; 1 January 1970 was a Thursday."""
        days = self.times.astype("datetime64[D]").astype(np.int64)
        return np.asarray((days + 3) % 7)

    @property
    def weekend(self) -> NDArray[np.bool_]:
        """Whether the day is a Saturday or a Sunday."""
        return np.asarray(self.weekday >= 5)

    def take(self, rounds: slice | NDArray[np.bool_]) -> Demand:
        """Select half-hours."""
        parts: tuple[NDArray[Any], ...] = self.demand, self.forecast, self.features, self.times
        demand, forecast, features, times = (part[rounds] for part in parts)
        return Demand(demand, forecast, features, times)

    def stream(self) -> Stream:
        """Return the half-hours as rounds, grouped into weekdays and weekends."""
        curves = miscoverage(residual(self.forecast, self.demand), widths=0.0)
        groups = tuple("weekend" if weekend else "weekday" for weekend in self.weekend)
        names = tuple(f"demand {k} day(s) ago" for k in range(1, 8))
        return Stream("electricity", self.features, curves, groups, names)


def load(path: str | Path | None = None) -> Demand:
    """Read Elec2 from a file, or from where `localarc data` finds or downloads it."""
    if path is None:
        folder = data.get("elec2")
        path = next(
            p for p in (folder / file for file in data.DATASETS["elec2"].files) if p.exists()
        )
    return prepare(without_repeated_day(read_demand(Path(path))))


def read_demand(path: Path) -> FloatArray:
    """Read the demand column and check it against the known series."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
        reader = csv.DictReader(io.StringIO(text))
        column = next(name for name in _COLUMNS if name in (reader.fieldnames or ()))
        demand = np.array([float(row[column]) for row in reader])
    except (OSError, StopIteration, ValueError, UnicodeDecodeError, TypeError) as error:
        raise data.DataError(
            f"{path} is not Elec2: expected a CSV file with a column {' or '.join(_COLUMNS)}. "
            "Run localarc data get elec2."
        ) from error
    millionths = np.rint(demand * 1e6).astype("<i8")
    if hashlib.sha256(millionths.tobytes()).hexdigest() != SERIES_SHA256:
        raise data.DataError(
            f"{path} contains a series other than Elec2 ({len(demand)} rows). "
            "Run localarc data get elec2."
        )
    return np.asarray(millionths / 1e6)


def without_repeated_day(demand: FloatArray) -> FloatArray:
    """Drop the second copy of 4 May 1997, which would shift every later weekday."""
    days = demand.reshape(-1, DAY)
    if not np.array_equal(days[REPEATED_DAY], days[REPEATED_DAY - 1]):
        raise ValueError(f"day {REPEATED_DAY} is not a repetition of the previous day.")
    return np.delete(days, REPEATED_DAY, axis=0).reshape(-1)


def prepare(demand: FloatArray) -> Demand:
    """Compute forecast and features of every half-hour after the first seven days."""
    sums = np.concatenate(([0.0], np.cumsum(demand)))
    t = np.arange(WARM_UP, len(demand))

    def mean(start: NDArray[np.int64], stop: NDArray[np.int64]) -> FloatArray:
        return np.asarray((sums[stop] - sums[start]) / (stop - start))

    past_days = [mean(t - k * DAY, t - (k - 1) * DAY) for k in range(1, 8)]
    times = FIRST_DAY + np.timedelta64(30, "m") * t
    forecast = mean(t - 2 * DAY, t - DAY)
    return Demand(demand[t], forecast, np.column_stack(past_days), times)
