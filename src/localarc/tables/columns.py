"""Columns of a frame, checked: numbers, times and the names of series."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from localarc.validation import LARGEST, FloatArray, IntArray, shown

HOURS_PER_DAY = 24
MICROSECONDS_PER_HOUR = 3_600_000_000


@dataclass(frozen=True)
class Times:
    """Times as integers (microseconds, or the integers given), and the hour of the week of each."""

    values: IntArray
    phase: IntArray
    temporal: bool
    zoned: bool = False


def require(frame: nw.DataFrame[Any], name: str, *columns: str) -> None:
    """Raise unless the frame has these columns."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{name} has no column {', '.join(map(repr, missing))}; its columns are "
            f"{', '.join(frame.columns)}. In pandas, reset_index() turns an index into columns."
        )


def labels(frame: nw.DataFrame[Any], column: str | None) -> list[Hashable]:
    """The name of each row's series."""
    if column is None:
        return [None] * len(frame)
    if frame[column].null_count():
        raise ValueError(f"{column} must not be missing: it says whose forecast a row is.")
    found: list[Hashable] = frame[column].to_list()
    for label in found:
        if not isinstance(label, Hashable):
            raise TypeError(
                f"{column} must contain names of series, text or integers, got {shown(label)}."
            )
    return found


def numbers(frame: nw.DataFrame[Any], column: str, *, gaps: bool = False) -> FloatArray:
    """A column of finite numbers; NaN for missing values where gaps are allowed."""
    series = frame[column]
    if not series.dtype.is_numeric():
        raise TypeError(f"{column} must contain numbers, not {series.dtype}.")
    values = np.asarray(series.cast(nw.Float64).to_numpy(), np.float64)
    wrong = ~(np.abs(values) <= LARGEST)
    if gaps:
        wrong &= ~np.isnan(values)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{column} must be finite, at most {LARGEST:g} in magnitude, got {values[row]} in row "
            f"{row}, counted from 0. Drop such rows first."
        )
    return values


def times(frame: nw.DataFrame[Any], column: str) -> Times:
    """The times of each row."""
    series = frame[column]
    if series.null_count():
        raise ValueError(f"{column} must not be missing: it says what a row is about.")
    kind = series.dtype
    if kind.is_integer():
        values = np.asarray(series.cast(nw.Int64).to_numpy(), np.int64)
        return Times(values, np.zeros(len(values), np.int64), False)
    if kind == nw.Date:
        series = series.cast(nw.Datetime("us"))
    elif kind != nw.Datetime:
        raise TypeError(
            f"{column} must contain times or integers, not {kind}. "
            "In pandas, pd.to_datetime converts text."
        )
    zone = getattr(kind, "time_zone", None)
    instants = series.dt.convert_time_zone("UTC") if zone else series
    return Times(_microseconds(instants), hour_of_week(_microseconds(series)), True, bool(zone))


def kind_of_times(temporal: bool, zoned: bool) -> str:
    """What a column of times contains, in words."""
    if not temporal:
        return "integers"
    return "times with a time zone" if zoned else "times without a time zone"


def _microseconds(series: nw.Series[Any]) -> IntArray:
    """The times as their clock shows them."""
    naive = series.dt.replace_time_zone(None)
    return np.asarray(naive.to_numpy().astype("datetime64[us]").astype(np.int64))


def hour_of_week(microseconds: IntArray) -> IntArray:
    """24 weekday + hour, 0 for Monday; 1 January 1970 was a Thursday."""
    days, hours = np.divmod(microseconds // MICROSECONDS_PER_HOUR, HOURS_PER_DAY)
    return np.asarray((days + 3) % 7 * HOURS_PER_DAY + hours)


def with_columns(frame: nw.DataFrame[Any], columns: dict[str, FloatArray]) -> Any:
    """The user's frame with more columns, its index as it was."""
    backend = frame.implementation
    added = [nw.new_series(name, values, backend=backend) for name, values in columns.items()]
    return nw.to_native(frame.with_columns(*added))
