"""Events: the rows of one bucket in one micro-batch, sorted by key and order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True)
class Events:
    """One row per event: the index of its key in `names` (-1: missing), order, value, inputs.

    A value is a score or a loss. Rows are sorted deterministically: of two rows with the same
    order, the one with the smaller value comes first, and NaN last.
    """

    names: list[str]
    codes: IntArray
    orders: IntArray
    values: FloatArray
    X: FloatArray

    @classmethod
    def from_columns(cls, keys: Any, orders: IntArray, values: FloatArray, X: FloatArray) -> Self:
        """Sort columns into events; missing keys are None or NaN."""
        import pandas

        codes, names = pandas.factorize(pandas.Series(keys), sort=True)
        at = np.lexsort((*X.T[::-1], values, orders, codes))
        return cls(list(names), codes[at].astype(np.int64), orders[at], values[at], X[at])

    def __len__(self) -> int:
        return len(self.codes)

    def positions(self) -> IntArray:
        """How many rows of the same key come before each row."""
        starts = np.searchsorted(self.codes, self.codes)  # codes are sorted
        return np.arange(len(self.codes)) - starts

    def keys(self) -> list[str | None]:
        """The key of each row, None where it is missing."""
        lookup = [*self.names, None]  # -1 is the last
        return [lookup[code] for code in self.codes.tolist()]

    def take(self, chosen: Any) -> Events:
        """Some of the rows, in the same order."""
        columns = (column[chosen] for column in (self.codes, self.orders, self.values, self.X))
        return Events(self.names, *columns)
