"""Columns: named arrays of equal length that grow together, and rows that can be reused.

Every write is recorded first, so that it can be undone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from localarc.calibrators.undo import Undo

Arrays: TypeAlias = dict[str, NDArray[Any]]
Kinds: TypeAlias = Mapping[str, tuple[str, int | None]]
"""By name: the type of an entry, and how many entries a row has; None for a plain number."""

FINITE = sys.float_info.max
GROWTH = 1.25  # small: the empty rows of a table count as memory, too


class Column:
    """One of the arrays, by row."""

    __slots__ = ("_array", "_undo")

    def __init__(self, array: NDArray[Any], undo: Undo | None) -> None:
        self._array, self._undo = array, undo

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self._array[rows]  # type: ignore[no-any-return]

    def __setitem__(self, rows: Any, values: Any) -> None:
        if self._undo is not None:
            self._undo.note(self._array.__setitem__, rows, np.array(self._array[rows]))
        self._array[rows] = values


class Columns:
    """Arrays by name, one entry or one vector per row; new rows are zero."""

    def __init__(self, kinds: Kinds, rows: int = 0, undo: Undo | None = None) -> None:
        self.kinds, self._undo = kinds, undo
        self._use({name: _zeros(kind, rows) for name, kind in kinds.items()}, rows)

    def _use(self, arrays: Arrays, rows: int) -> None:
        columns = {name: Column(array, self._undo) for name, array in arrays.items()}
        self._arrays, self._columns, self.rows = arrays, columns, rows

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def reserve(self, rows: int) -> None:
        """Grow to at least this number of rows."""
        if rows <= self.rows:
            return
        length = max(rows, int(GROWTH * self.rows), 16)
        grown = {name: _zeros(kind, length) for name, kind in self.kinds.items()}
        for name, array in self._arrays.items():
            grown[name][: self.rows] = array
        if self._undo is not None:
            self._undo.note(self._use, self._arrays, self.rows)
        self._use(grown, length)

    @property
    def nbytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self._arrays.values())

    def stored(self, rows: Any) -> Arrays:
        """These rows, in types that a state can hold."""
        return {name: _wide(array[rows]) for name, array in self._arrays.items()}

    def restore(self, arrays: Arrays) -> None:
        """Begin again with the rows that `stored` returned."""
        lengths = {len(arrays[name]) for name in self.kinds}
        if len(lengths) != 1:
            raise ValueError("its columns differ in length")
        rows = lengths.pop()
        fresh = {name: _zeros(kind, rows) for name, kind in self.kinds.items()}
        for name in self.kinds:
            if arrays[name].shape != fresh[name].shape:
                raise ValueError(f"column {name} has the shape {arrays[name].shape}")
            stored, made = arrays[name], fresh[name]
            if (stored.dtype.kind == "f") != (made.dtype.kind == "f"):
                raise ValueError(f"column {name} has the type {stored.dtype}")
            made[...] = stored
            if made.dtype.kind != "f" and (made != stored).any():
                raise ValueError(f"column {name} has numbers that are too large")
        self._use(fresh, rows)

    def require(self, low: float, high: float, *names: str) -> None:
        """Raise unless all values of these columns lie in [low, high]; NaN does not."""
        for name in names:
            values = self._arrays[name]
            if not ((values >= low) & (values <= high)).all():
                raise ValueError(f"column {name} has values outside [{low:g}, {high:g}]")


class Pool(Columns):
    """Columns whose rows are taken and given back."""

    def __init__(self, kinds: Kinds, undo: Undo | None = None) -> None:
        super().__init__(kinds, undo=undo)
        self._free: NDArray[np.int32] = np.empty(0, np.int32)

    def _now_free(self, rows: NDArray[np.int32]) -> None:
        if self._undo is not None:
            self._undo.note(setattr, self, "_free", self._free)
        self._free = rows

    def take(self, count: int) -> NDArray[np.int64]:
        """The indices of `count` free rows."""
        missing = count - len(self._free)
        if missing > 0:
            before = self.rows
            self.reserve(before + missing)
            new = np.arange(self.rows - 1, before - 1, -1, dtype=np.int32)
            self._now_free(np.concatenate([new, self._free]))
        taken = self._free[len(self._free) - count :][::-1].astype(np.int64)
        self._now_free(self._free[: len(self._free) - count])
        return taken

    def give_back(self, rows: NDArray[Any]) -> None:
        """These rows are free again."""
        self._now_free(np.concatenate([self._free, rows.astype(np.int32)]))

    @property
    def used(self) -> int:
        """How many rows are in use."""
        return self.rows - len(self._free)

    def used_rows(self) -> NDArray[np.int64]:
        """The numbers of the rows in use, in ascending order."""
        taken = np.ones(self.rows, bool)
        taken[self._free] = False
        return np.flatnonzero(taken)

    @property
    def nbytes(self) -> int:
        """The size of all arrays, with the list of free rows."""
        return super().nbytes + self._free.nbytes

    def restore(self, arrays: Arrays) -> None:
        """Begin again with the rows that `stored` returned, all of them in use."""
        super().restore(arrays)
        self._free = np.empty(0, np.int32)


def named(prefix: str, arrays: Arrays) -> Arrays:
    """The arrays under longer names, among those of other parts."""
    return {f"{prefix}: {name}": array for name, array in arrays.items()}


def part(prefix: str, arrays: Arrays) -> Arrays:
    """The arrays that `named` gave this prefix, under their own names."""
    start = f"{prefix}: "
    return {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}


def _zeros(kind: tuple[str, int | None], rows: int) -> NDArray[Any]:
    name, width = kind
    return np.zeros(rows if width is None else (rows, width), name)


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype("f8" if array.dtype.kind == "f" else "i8")
