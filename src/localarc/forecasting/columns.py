"""Columns: named arrays of equal length that grow together, and rows that can be reused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = dict[str, NDArray[Any]]
Kinds: TypeAlias = Mapping[str, tuple[str, int | None]]
"""By name: the type of an entry, and how many entries a row has; None for a plain number."""

GROWTH = 1.25  # small: the empty rows of a table count as memory, too


class Columns:
    """Arrays by name, one entry or one vector per row; new rows are zero."""

    def __init__(self, kinds: Kinds, rows: int = 0) -> None:
        self.kinds = kinds
        self.rows = rows
        self._arrays = {name: _zeros(kind, rows) for name, kind in kinds.items()}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def reserve(self, rows: int) -> None:
        """Have at least so many rows."""
        if rows <= self.rows:
            return
        length = max(rows, int(GROWTH * self.rows), 16)
        grown = {name: _zeros(kind, length) for name, kind in self.kinds.items()}
        for name, array in self._arrays.items():
            grown[name][: self.rows] = array
        self._arrays, self.rows = grown, length

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
        fresh = Columns(self.kinds, lengths.pop())
        for name in self.kinds:
            if arrays[name].shape != fresh[name].shape:
                raise ValueError(f"column {name} has the shape {arrays[name].shape}")
            fresh[name][...] = arrays[name]
        self._arrays, self.rows = fresh._arrays, fresh.rows


class Pool(Columns):
    """Columns whose rows are taken and given back."""

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds)
        self._free: NDArray[np.int32] = np.empty(0, np.int32)

    def take(self, count: int) -> NDArray[np.int64]:
        """The numbers of so many free rows."""
        missing = count - len(self._free)
        if missing > 0:
            before = self.rows
            self.reserve(before + missing)
            new = np.arange(self.rows - 1, before - 1, -1, dtype=np.int32)
            self._free = np.concatenate([new, self._free])
        taken = self._free[len(self._free) - count :][::-1].astype(np.int64)
        self._free = self._free[: len(self._free) - count]
        return taken

    def give_back(self, rows: NDArray[Any]) -> None:
        """These rows are free again."""
        self._free = np.concatenate([self._free, rows.astype(np.int32)])

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
