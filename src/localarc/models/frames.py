"""Rows in and out: pandas, polars and other frames by column name, arrays by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows: TypeAlias = ArrayLike | nw.typing.IntoDataFrame
"""Rows of features: an array of shape (n, d), a list of lists, or a frame."""

ColumnName: TypeAlias = str | int
"""A column: its name in a frame, its position in an array."""


class Table:
    """Rows whose columns can be read one by one: a frame, an array, or one row as a dict."""

    def __init__(self, rows: Any) -> None:
        self.row: Mapping[str, Any] | None = rows if isinstance(rows, Mapping) else None
        self.frame = None if self.row is not None else _frame(rows)
        self.array: NDArray[Any] = np.empty((1, 0))
        if self.frame is None and self.row is None:
            self.array = np.asarray(rows)
            if self.array.ndim == 1:
                self.array = self.array.reshape(-1, 1)

    def __len__(self) -> int:
        return len(self.array) if self.frame is None else len(self.frame)

    @property
    def names(self) -> list[str]:
        """The names of the columns; none for an array."""
        if self.row is not None:
            return list(self.row)
        return [] if self.frame is None else list(self.frame.columns)

    def column(self, name: ColumnName) -> nw.Series[Any] | NDArray[Any]:
        """A column by name, or by position."""
        if not self.names:
            return self._by_position(name)
        if isinstance(name, int) and -len(self.names) <= name < len(self.names):
            name = self.names[name]
        if name not in self.names:
            raise ValueError(f"there is no column {name!r}; the columns are {self.names}.")
        if self.row is not None:
            return np.array([self.row[str(name)]])
        assert self.frame is not None
        return self.frame[str(name)]

    def _by_position(self, name: ColumnName) -> NDArray[Any]:
        width = self.array.shape[1] if self.array.ndim == 2 else 0
        if isinstance(name, int) and -width <= name < width:
            column: NDArray[Any] = self.array[:, name]
            return column
        raise ValueError(
            f"there is no column {name!r} in an array of shape {self.array.shape}. Name columns "
            "of arrays by position, counted from 0, or pass a frame."
        )

    def like(self, values: NDArray[Any], names: Sequence[str]) -> Any:
        """Columns of results as the rows were: a series or frame with their index, or the array."""
        if self.frame is None:
            return values
        if values.ndim == 1:
            made: Any = nw.new_series(names[0], values, backend=self.frame.implementation)
        else:
            columns = {name: values[:, i] for i, name in enumerate(names)}
            made = nw.from_dict(columns, backend=self.frame.implementation)
        native, index = made.to_native(), nw.maybe_get_index(self.frame)
        if index is not None:
            native.index = index  # of pandas; other frames have none
        return native


def _frame(rows: Any) -> nw.DataFrame[Any] | None:
    found = nw.from_native(rows, eager_only=True, pass_through=True)
    return found if isinstance(found, nw.DataFrame) else None


def values_of(column: Any) -> NDArray[Any]:
    """The values of y or another single column, as an array."""
    found = nw.from_native(column, series_only=True, pass_through=True)
    return found.to_numpy() if isinstance(found, nw.Series) else np.asarray(column)
