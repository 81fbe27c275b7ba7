"""How a column becomes numbers: as it is, as an angle, or as one number per category."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from localarc.tables.frames import known_values
from localarc.tables.rows import Column, ColumnName, Table
from localarc.validation import FloatArray

Period: TypeAlias = float | Literal["day", "week", "year"]
"""After how much a cyclic column repeats: in its own unit, or, for dates, in days."""

_DAYS = {"day": 1.0, "week": 7.0, "year": 365.2425}
_DAY = 86400.0  # seconds


@dataclass(frozen=True)
class Feature:
    """A column as k numbers. Where it is missing the first is NaN and the others are 0."""

    column: ColumnName
    period: float | None = None  # of an angle; in seconds for dates
    categories: tuple[Hashable, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its numbers."""
        if self.period is not None:
            return f"sin({self.column})", f"cos({self.column})"
        if self.categories is not None:
            return tuple(f"{self.column}={name}" for name in self.categories)
        return (str(self.column),)

    def numbers(self, table: Table) -> FloatArray:
        """(n, k): the column as numbers."""
        column = table.column(self.column)
        if self.categories is not None:
            return self._one_hot(known_values(column))
        values = _seconds(column) if _is_date(column) else _numbers(self.column, column)
        if self.period is None:
            return values[:, None]
        angle = values * (2.0 * math.pi / self.period)
        return np.column_stack([np.sin(angle), np.nan_to_num(np.cos(angle))])

    def _one_hot(self, labels: list[Hashable]) -> FloatArray:
        known = self.categories or ()
        at = {name: k for k, name in enumerate(known)}
        columns = np.array([at.get(label, -1) for label in labels], np.int64)
        made: FloatArray = (columns[:, None] == np.arange(len(known))).astype(float)
        made[[label is None for label in labels], :1] = np.nan
        return made


def feature(name: ColumnName, column: Column, period: Period | None, many: bool) -> Feature:
    """The feature of a column; `many`: its rows show all categories of text."""
    if period is not None:
        return Feature(name, _period(name, column, period))
    if _is_date(column):
        raise ValueError(
            f"column {name!r} has dates, which never come back. Pass "
            f'cyclic={{{name!r}: "day"}} (or "week", "year") for the time of day.'
        )
    if isinstance(column, nw.Series) and column.dtype.is_temporal():
        raise ValueError(f"column {name!r} has durations. Convert them to numbers, e.g. hours.")
    if _is_text(column):
        return Feature(name, categories=_categories(name, column, many))
    return Feature(name)


def _period(name: ColumnName, column: Column, period: Period) -> float:
    dates = _is_date(column)
    if isinstance(period, str):
        if period not in _DAYS or not dates:
            raise ValueError(
                f"the period of {name!r} is {period!r}. Pass a number in the unit of the column, "
                f"or, for a column of dates, one of {[*_DAYS]}."
            )
        return _DAYS[period] * _DAY
    if not (isinstance(period, int | float) and 0.0 < period < math.inf):
        raise ValueError(f"the period of {name!r} must be a positive number, got {period!r}.")
    return float(period) * (_DAY if dates else 1.0)


def _categories(name: ColumnName, column: Column, many: bool) -> tuple[Hashable, ...]:
    if isinstance(column, nw.Series) and isinstance(column.dtype, nw.Categorical | nw.Enum):
        return tuple(column.cat.get_categories().to_list())
    if not many:
        raise ValueError(
            f"column {name!r} has text, whose categories must be known in advance to become "
            "features. Call warm_up first, give the column a categorical type, or name it in "
            "groups=[...] instead of local=[...]."
        )
    return tuple(sorted({value for value in known_values(column) if value is not None}, key=str))


def _is_text(column: Column) -> bool:
    if isinstance(column, nw.Series):
        if column.dtype == nw.Object:
            return any(isinstance(value, str) for value in column.to_list())
        return not (column.dtype.is_numeric() or column.dtype == nw.Boolean)
    if column.dtype.kind == "O":
        return any(isinstance(value, str) for value in column.tolist())
    return bool(column.dtype.kind in "US")


def _is_date(column: Column) -> bool:
    if isinstance(column, nw.Series):
        return isinstance(column.dtype, nw.Datetime | nw.Date)
    return bool(column.dtype.kind == "M")


def _seconds(column: Column) -> FloatArray:
    """Seconds since 1970, NaN where a date is missing."""
    values = column.to_numpy() if isinstance(column, nw.Series) else column
    moments = values.astype("datetime64[ms]")
    since: FloatArray = moments.astype(np.float64) / 1000.0
    since[np.isnat(moments)] = np.nan
    return since


def _numbers(name: ColumnName, column: Column) -> FloatArray:
    try:
        values = floats(column)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"column {name!r} must have numbers: {error}.") from error
    if np.isinf(values).any():
        raise ValueError(f"column {name!r} has infinite values. Write NaN where it is missing.")
    return values


def floats(column: Column) -> FloatArray:
    """A column as numbers, NaN where it is missing."""
    if isinstance(column, nw.Series):
        if column.dtype == nw.Object or column.is_null().any():
            return np.array([np.nan if v is None else v for v in known_values(column)], float)
        column = column.to_numpy()
    found: NDArray[Any] = column.astype(np.float64)
    return found
