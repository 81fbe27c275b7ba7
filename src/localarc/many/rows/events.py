"""Events: the rows of a frame as columns of numbers, and sorted by key and order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray, IntArray

NO_TIME = int(np.iinfo(np.int64).min)
"""The time of a row without one."""


@dataclass(frozen=True)
class Rows:
    """One row per event, as they came: the place of its key in `names` (-1: missing), and values.

    `acts` say what a row does (`many.panel.late`), 0 if it is of an unknown kind. Orders are
    None where the rows are in order already, and 0 where one is missing. With `timed` they are
    times, in microseconds since 1970; `late` rows came after the watermark had passed them.
    """

    names: list[str]
    codes: IntArray
    orders: IntArray | None
    acts: IntArray
    ids: Any
    values: FloatArray
    widths: FloatArray | None
    X: FloatArray
    timed: bool = False
    late: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def first_order(self) -> int:
        """The least order that a row can have."""
        return NO_TIME + 1 if self.timed else 1


@dataclass(frozen=True)
class Events:
    """Rows sorted by key and order, with the verdict on each; `places` is where each came from.

    Sorting is deterministic: of two rows with the same order, good rows come before bad ones, then
    the one with the smaller value. Of rows with the same time, the one with the smaller id.
    """

    names: list[str]
    codes: IntArray
    orders: IntArray
    acts: IntArray
    ids: Any
    values: FloatArray
    widths: FloatArray | None
    X: FloatArray
    verdicts: NDArray[np.int8]
    places: IntArray
    timed: bool = False

    @classmethod
    def sort(cls, rows: Rows, verdicts: NDArray[np.int8], due: IntArray) -> Events:
        """Sort rows; without orders they are counted from the one that is due."""
        at = _sorted(rows, verdicts)
        codes = rows.codes[at]
        if rows.orders is None:
            positions = _positions(codes)
            orders = due[codes] + positions if len(due) else positions
        else:
            orders = rows.orders[at]
        ids = None if rows.ids is None else rows.ids.take(at)
        widths = None if rows.widths is None else rows.widths[at]
        values, X = rows.values[at], rows.X[at]
        verdicts, acts = verdicts[at], rows.acts[at]
        return cls(
            rows.names, codes, orders, acts, ids, values, widths, X, verdicts, at, rows.timed
        )

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, chosen: Any) -> Events:
        """Some of the rows, in the same order."""
        if np.asarray(chosen).all():
            return self
        at = np.flatnonzero(chosen)
        names = ("codes", "orders", "acts", "values", "X", "verdicts", "places")
        return replace(
            self,
            **{name: getattr(self, name)[at] for name in names},
            ids=None if self.ids is None else self.ids.take(at),
            widths=None if self.widths is None else self.widths[at],
        )

    def positions(self) -> IntArray:
        """How many rows of the same key come before each row."""
        return _positions(self.codes)


def _sorted(rows: Rows, verdicts: NDArray[np.int8]) -> IntArray:
    """The places of rows in sorted order; ties are broken only where there are any."""
    if rows.orders is None:
        return np.argsort(rows.codes, kind="stable")
    at = np.lexsort((rows.orders, rows.codes))
    codes, orders = rows.codes[at], rows.orders[at]
    if not ((codes[1:] == codes[:-1]) & (orders[1:] == orders[:-1])).any():
        return at
    ids = () if rows.ids is None else (_ranks(rows.ids),)
    last = (verdicts != 0, rows.acts, *ids) if rows.timed else (*ids, rows.acts, verdicts != 0)
    ties = (*rows.X.T[::-1], rows.values, *last)
    return np.lexsort((*ties, rows.orders, rows.codes))


def _positions(codes: IntArray) -> IntArray:
    starts = np.flatnonzero(codes[1:] != codes[:-1]) + 1  # codes are sorted
    first = np.zeros(len(codes), np.int64)
    first[starts] = starts
    return np.arange(len(codes)) - np.maximum.accumulate(first)


def _ranks(ids: Any) -> IntArray:
    """Numbers in the order of the texts, whichever rows they are in."""
    return np.unique(np.array(ids.fill_null("").to_pylist()), return_inverse=True)[1]
