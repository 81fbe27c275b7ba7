"""Where a row is and to which groups it belongs: features and labels from columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from localarc.calibrators.auto.groups import MissingFeature
from localarc.models.features import Feature, Period, feature
from localarc.tables.frames import known_values
from localarc.tables.rows import Column, ColumnName, Table
from localarc.validation import FloatArray, shown

Local: TypeAlias = Literal["prediction"] | Sequence[ColumnName]
"""What places are made of: the model's own output, or columns."""


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
        self.of_prediction = isinstance(local, str) and local == "prediction"
        self.local = () if self.of_prediction else _names("local", local)
        self.groups = _names("groups", groups)
        if not isinstance(cyclic, Mapping):
            raise TypeError(
                f"cyclic must map columns to periods, got {shown(cyclic)}. For example "
                '{"hour": 24}.'
            )
        self.cyclic = {_name(name): period for name, period in cyclic.items()}
        self.features: tuple[Feature, ...] | None = () if self.of_prediction else None
        for name in self.cyclic:
            if name not in self.local:
                raise ValueError(
                    f"cyclic names {name!r}, which is not in local={[*self.local]}. Name columns "
                    "that repeat in both."
                )

    def fixed(self, table: Table, many: bool) -> tuple[Feature, ...]:
        """How columns become numbers: as at the first rows, which may be these.

        `many`: the rows show all categories of text.
        """
        if self.features is not None:
            return self.features
        return tuple(
            feature(name, table.column(name), self.cyclic.get(name), many) for name in self.local
        )

    def points(self, table: Table, output: FloatArray, features: tuple[Feature, ...]) -> FloatArray:
        """(n, d) numbers; `output` (n, k) is the model's own output."""
        if self.of_prediction:
            return np.ascontiguousarray(output)
        parts = [part.numbers(table) for part in features]
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
        if self.of_prediction:
            return ("prediction",)
        return tuple(name for part in self.features or () for name in part.names)

    def title(self, group: Hashable) -> str:
        """A group as it is printed."""
        columns = [part.column for part in self.features or () for _ in part.names]
        if isinstance(group, MissingFeature) and group.index < len(columns):
            return f"{columns[group.index]} is missing"
        return str(group)


def _names(setting: str, columns: Any) -> tuple[ColumnName, ...]:
    if isinstance(columns, str):
        choice = '"prediction" or ' if setting == "local" else ""
        raise ValueError(
            f"{setting} must be {choice}a sequence of columns, got {columns!r}. Pass one column as "
            f"[{columns!r}]."
        )
    try:
        names = tuple(map(_name, columns))
    except TypeError as error:
        raise TypeError(
            f"{setting} must be a sequence of columns, got {shown(columns)}. Pass one column as "
            f"[{shown(columns)}]."
        ) from error
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{setting} must name each column once, got {name!r} twice or more.")
    return names


def _name(column: Any) -> ColumnName:
    """A column as Python names it: NumPy has integers and text of its own."""
    found: ColumnName = column.item() if isinstance(column, np.generic) else column
    return found


def _group_names(name: ColumnName, column: Column) -> list[str]:
    known: dict[Hashable, str] = {None: f"{name} is missing"}
    found = []
    for value in known_values(column):
        if value not in known:
            shown = int(value) if isinstance(value, float) and value.is_integer() else value
            known[value] = f"{name}={shown}"
        found.append(known[value])
    return found
