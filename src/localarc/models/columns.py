"""Where a row is and to which groups it belongs: features and labels from columns."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from localarc.calibrators.auto.groups import MissingFeature
from localarc.models.frames import ColumnName, Table
from localarc.validation import FloatArray

Local: TypeAlias = Literal["prediction"] | Sequence[ColumnName]
"""What places are made of: the model's own output, or columns."""

Period: TypeAlias = float | Literal["day", "week", "year"]
"""After how much a cyclic column repeats: in its own unit, or, for dates, in days."""

_DAYS = {"day": 1.0, "week": 7.0, "year": 365.2425}


@dataclass(frozen=True)
class Feature:
    """How a column becomes numbers: as it is, as an angle, or as one number per category."""

    column: ColumnName
    period: float | None = None  # of an angle
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
        """(n, k): the column as numbers, NaN where it is missing."""
        column = table.column(self.column)
        if self.categories is not None:
            found = _labels(column)
            return np.array([[_equal(a, b) for b in self.categories] for a in found]).reshape(
                len(found), len(self.categories)
            )
        if self.period is None:
            return _numbers(self.column, column)[:, None]
        values = _seconds(column) if _is_date(column) else _numbers(self.column, column)
        angle = values * (2.0 * math.pi / self.period)
        return np.column_stack([np.sin(angle), np.cos(angle)])


class Columns:
    """The features and groups of rows, with what is fixed when the first rows come.

    Parameters
    ----------
    local : "prediction" or sequence of columns
        Columns that say where a row is.
    groups : sequence of columns
        Columns whose values are groups.
    cyclic : mapping from columns of `local` to periods
        Columns that repeat: hours of a day, days of a week, dates.
    """

    def __init__(
        self, local: Local, groups: Sequence[ColumnName], cyclic: Mapping[ColumnName, Period]
    ) -> None:
        self.local, self.groups, self.cyclic = local, tuple(groups), dict(cyclic)
        self.features: tuple[Feature, ...] | None = None
        if local == "prediction" and cyclic:
            raise ValueError("cyclic names columns of local; pass local=[...] with these columns.")
        for name in cyclic:
            if name not in local:
                raise ValueError(f"cyclic names {name!r}, which is not in local, {[*local]}.")

    def fix(self, table: Table, many: bool) -> None:
        """Fix how columns become numbers, at the first rows; `many`: these show all categories."""
        if self.features is None and self.local != "prediction":
            self.features = tuple(
                _feature(name, table.column(name), self.cyclic.get(name), many)
                for name in self.local
            )

    def points(self, table: Table, output: FloatArray) -> FloatArray:
        """(n, d) features; `output` (n, k) is what the model says of where a row is."""
        if self.local == "prediction":
            return np.ascontiguousarray(output)
        parts = [feature.numbers(table) for feature in self.features or ()]
        return np.concatenate([np.empty((len(table), 0)), *parts], axis=1)

    def labels(self, table: Table) -> list[list[str]] | None:
        """The groups of each row, such as "region=north"."""
        if not self.groups:
            return None
        columns = [_group_names(name, table.column(name)) for name in self.groups]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        if self.local == "prediction":
            return ("prediction",)
        return tuple(name for feature in self.features or () for name in feature.names)

    def title(self, group: Hashable) -> str:
        """A group as it is printed."""
        if isinstance(group, MissingFeature) and group.index < len(self.names):
            return f"{self.names[group.index]} is missing"
        return str(group)


def _feature(name: ColumnName, column: Any, period: Period | None, many: bool) -> Feature:
    if isinstance(period, str) and (period not in _DAYS or not _is_date(column)):
        raise ValueError(
            f"the period of {name!r} is {period!r}. Pass a number in the unit of the column, or, "
            f"for a column of dates, one of {[*_DAYS]}."
        )
    if isinstance(period, str):
        return Feature(name, _DAYS[period] * 86400.0)
    if period is not None:
        if not (isinstance(period, int | float) and 0.0 < period < math.inf):
            raise ValueError(f"the period of {name!r} must be a positive number, got {period!r}.")
        return Feature(name, float(period) * (86400.0 if _is_date(column) else 1.0))
    if _is_date(column):
        raise ValueError(
            f"column {name!r} has dates, which never come back. Pass "
            f'cyclic={{{name!r}: "day"}} (or "week", "year") for the time of day.'
        )
    if _is_text(column):
        return Feature(name, categories=_categories(name, column, many))
    return Feature(name)


def _categories(name: ColumnName, column: Any, many: bool) -> tuple[Hashable, ...]:
    if isinstance(column, nw.Series) and isinstance(column.dtype, nw.Categorical | nw.Enum):
        return tuple(column.cat.get_categories().to_list())
    if not many:
        raise ValueError(
            f"column {name!r} has text, whose categories must be known in advance to become "
            "features. Call warm_up first, give the column a categorical type, or name it in "
            "groups=[...] instead of local=[...]."
        )
    return tuple(sorted({value for value in _labels(column) if value is not None}, key=str))


def _is_text(column: Any) -> bool:
    if isinstance(column, nw.Series):
        return not (column.dtype.is_numeric() or column.dtype == nw.Boolean)
    if column.dtype.kind == "O":
        return any(isinstance(value, str) for value in column.tolist())
    return bool(column.dtype.kind in "US")


def _is_date(column: Any) -> bool:
    if isinstance(column, nw.Series):
        return bool(column.dtype.is_temporal())
    return bool(column.dtype.kind == "M")


def _seconds(column: Any) -> FloatArray:
    values = column.to_numpy() if isinstance(column, nw.Series) else column
    since: NDArray[Any] = values.astype("datetime64[ms]").astype(np.float64) / 1000.0
    since[np.isnat(values)] = np.nan
    return since


def _numbers(name: ColumnName, column: Any) -> FloatArray:
    try:
        if isinstance(column, nw.Series):
            values: FloatArray = column.cast(nw.Float64).to_numpy()
        else:
            values = column.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"column {name!r} must have numbers: {error}.") from error
    if np.isinf(values).any():
        raise ValueError(f"column {name!r} has infinite values. Write NaN where it is missing.")
    return values


def _labels(column: Any) -> list[Hashable]:
    """The values of a column, None where they are missing."""
    values = column.to_list() if isinstance(column, nw.Series) else column.tolist()
    return [None if value is None or value != value else value for value in values]


def _group_names(name: ColumnName, column: Any) -> list[str]:
    known: dict[Hashable, str] = {None: f"{name} is missing"}
    found = []
    for value in _labels(column):
        if value not in known:
            shown = int(value) if isinstance(value, float) and value.is_integer() else value
            known[value] = f"{name}={shown}"
        found.append(known[value])
    return found


def _equal(value: Hashable, category: Hashable) -> float:
    return math.nan if value is None else float(value == category)
