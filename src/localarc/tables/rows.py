"""Rows in and out: pandas, polars and other frames by column name, arrays by position."""

from __future__ import annotations

import datetime
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.stable.v2.typing import IntoDataFrame
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.tables import frames
from localarc.validation import IntArray

Rows: TypeAlias = ArrayLike | IntoDataFrame
"""Rows of features: an array of shape (n, d), a list of lists, or a frame."""

ColumnName: TypeAlias = str | int
"""A column: its name in a frame, its position in an array."""

Column: TypeAlias = nw.Series[Any] | NDArray[Any]
"""The values of one column."""


class Table:
    """Rows whose columns can be read one by one: a frame, an array, or one row as a dict."""

    def __init__(self, rows: Any) -> None:
        self.row: Mapping[Any, Any] | None = rows if isinstance(rows, Mapping) else None
        found = None if self.row is not None else frames.read(rows, "X")
        self.frame = found if isinstance(found, nw.DataFrame) else None
        self.array: Any = np.empty((1, 0))
        if self.frame is None and self.row is None:
            self.array = rows if _is_sparse(rows) else _array(rows)

    def __len__(self) -> int:
        return int(self.array.shape[0]) if self.frame is None else len(self.frame)

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns; none for an array."""
        if self.row is not None:
            return list(self.row)
        return [] if self.frame is None else list(self.frame.columns)

    def column(self, name: ColumnName) -> Column:
        """A column by name, or else by position."""
        names = self.names
        if not names:
            return self._by_position(name)
        if name not in names and isinstance(name, int) and -len(names) <= name < len(names):
            at = name % len(names)
        elif name in names:
            at = names.index(name)
        else:
            raise ValueError(f"there is no column {name!r}; the columns are {names}.")
        if self.row is not None:
            return _single(self.row[names[at]])
        assert self.frame is not None
        return _by_its_clock(self.frame[:, at])

    def take(self, rows: IntArray) -> Table:
        """Some of the rows."""
        if self.row is not None or len(rows) == len(self):
            return self
        if self.frame is not None:
            return Table(self.frame[rows])
        return Table(self.array.tocsr()[rows] if _is_sparse(self.array) else self.array[rows])

    def _by_position(self, name: ColumnName) -> NDArray[Any]:
        width = self.array.shape[1] if self.array.ndim == 2 else 0
        if isinstance(name, int) and -width <= name < width:
            if _is_sparse(self.array):
                return np.asarray(self.array.tocsc()[:, [name]].toarray()[:, 0])
            return np.asarray(self.array[:, name])
        raise ValueError(
            f"there is no column {name!r} in an array of shape {self.array.shape}. Name columns "
            "of arrays by position, counted from 0, or pass a frame."
        )

    def like(self, values: NDArray[Any], names: Sequence[str]) -> Any:
        """Columns of results as the rows were: a series or frame with their index, or the array."""
        if self.frame is None:
            return values
        rows = frames.Rows.of(self.frame)
        if values.ndim == 1:
            return rows.series(names[0], values)
        return rows.frame({name: values[:, i] for i, name in enumerate(names)})


def require_rows(X: Any) -> None:
    """Raise unless X can be rows; their columns are checked where they are used."""
    if isinstance(X, Mapping):
        raise TypeError(
            f"X must be rows, got the mapping {validation.shown(X)}. Pass a data frame, or one row "
            "as a mapping to predict_one and learn_one."
        )
    single = not hasattr(X, "__len__") or getattr(X, "ndim", 1) == 0
    if single or isinstance(X, str | bytes | set | frozenset):
        raise TypeError(
            f"X must be rows, got {validation.shown(X)}. Pass an array of shape (n, d), a list of "
            "rows or a data frame."
        )


def _is_sparse(rows: Any) -> bool:
    return hasattr(rows, "tocsc")


def _array(rows: Any) -> NDArray[Any]:
    """Rows as an array; numbers stay numbers beside text, and rows may differ in shape."""
    try:
        found = np.asarray(rows)
    except ValueError:  # rows of different shapes
        found = np.empty(len(rows), object)
        found[:] = [*rows]
    if found.dtype.kind in "US" and not isinstance(rows, np.ndarray):
        found = np.array(rows, object)
    return found.reshape(-1, 1) if found.ndim < 2 else found


def _single(value: Any) -> NDArray[Any]:
    """One value as a column; dates by the clock of their time zone."""
    if isinstance(value, datetime.datetime):
        return np.array([value.replace(tzinfo=None)], "datetime64[us]")
    return np.array([value], "datetime64[D]" if isinstance(value, datetime.date) else None)


def _by_its_clock(column: nw.Series[Any]) -> nw.Series[Any]:
    """Dates without their time zone; narwhals does not recognize those of recent pandas."""
    native: Any = column.to_native()
    if getattr(getattr(native, "dtype", None), "tz", None) is not None:
        return nw.from_native(native.dt.tz_localize(None), series_only=True)
    if isinstance(column.dtype, nw.Datetime) and column.dtype.time_zone is not None:
        return column.dt.replace_time_zone(None)
    return column


def values_of(column: Any) -> NDArray[Any]:
    """The values of y or another single column, as an array."""
    found = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(found, nw.Series):
        return found.to_numpy()
    try:
        return np.asarray(column)
    except ValueError as error:
        raise ValueError(
            f"y and predictions must have the same shape in every row, got "
            f"{validation.shown(column)}. Pass one value per row, or one row of values."
        ) from error
