"""Sample: some of the rows that were shown, to see where they were missed and how large they were.

A row is kept or not by a hash of its number, so that all rows have the same chance and nothing in
the data can be in step with the choice. When there is no more room, half of the rows are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localarc.guarantees.verdict import LEAST_ROUNDS, Part
from localarc.running.size_ratio import ratio_of_means
from localarc.tables.rows import ColumnName
from localarc.validation import FloatArray, IntArray

MOST_ROWS = 8192
MOST_VALUES = 2**19  # of all columns together: 2 MB

_NAMES = "numbers", "values", "losses", "sizes", "references"


class Kept(NamedTuple):
    """Rows by number, in ascending order; NaN for what is not known yet."""

    numbers: IntArray
    values: NDArray[np.float32]  # (n, columns)
    losses: FloatArray  # (n, levels), of the set that was shown
    sizes: FloatArray
    references: FloatArray  # sizes of the sets of a rolling quantile

    def take(self, rows: Any) -> Kept:
        """Some of the rows."""
        return Kept(*(column[rows] for column in self))


class Sample:
    """Some of the rows that were shown, with their columns of numbers.

    It does not change: what adds to it returns another one, which shares columns that are the same.

    Parameters
    ----------
    levels : int
        The number of coverage levels.
    """

    def __init__(self, levels: int) -> None:
        self.columns: tuple[ColumnName, ...] | None = None  # those of the first rows
        self.seen, self._halvings = 0, 0
        nothing = np.empty((0, levels))
        self.kept = Kept(
            *(np.empty(0, np.int64), np.empty((0, 0), np.float32), nothing, nothing, nothing)
        )

    def __len__(self) -> int:
        return len(self.kept.numbers)

    def choose(self, count: int) -> IntArray:
        """Which of the next rows are kept, counted from 0."""
        return np.flatnonzero(self._is_kept(self.seen + np.arange(count)))

    def add(self, count: int, columns: tuple[ColumnName, ...] | None, new: Kept) -> Sample:
        """One that counts the next rows, too, and keeps those chosen."""
        made = self._with(columns=columns, seen=self.seen + count)
        if len(new.numbers):
            before = self.kept if len(self) else self.kept._replace(values=new.values[:0])
            pairs: Any = zip(before, new, strict=True)
            made.kept = Kept(*(np.concatenate(pair) for pair in pairs))
            most = min(MOST_ROWS, MOST_VALUES // max(1, new.values.shape[1]))
            while len(made) > most:
                made._halvings += 1
                made.kept = made.kept.take(made._is_kept(made.kept.numbers))
        return made

    def _is_kept(self, numbers: IntArray) -> NDArray[np.bool_]:
        return np.asarray(_hash(numbers) & np.uint64(2**self._halvings - 1) == 0)

    def settle(self, numbers: IntArray, losses: FloatArray, references: FloatArray) -> Sample:
        """One with what became known of rows that are kept, unless they were dropped since."""
        at = np.searchsorted(self.kept.numbers, numbers)
        here = np.flatnonzero(at < len(self))
        here = here[self.kept.numbers[at[here]] == numbers[here]]
        if not len(here):
            return self
        kept = self.kept._replace(
            losses=self.kept.losses.copy(), references=self.kept.references.copy()
        )
        kept.losses[at[here]], kept.references[at[here]] = losses[here], references[here]
        return self._with(kept=kept)

    def _with(self, **changed: Any) -> Sample:
        made = Sample.__new__(Sample)
        vars(made).update(vars(self), **changed)
        return made

    # ---- what is seen in it ------------------------------------------------------------------

    @property
    def known(self) -> int:
        """How many of the rows have an outcome."""
        return int(np.isfinite(self.kept.losses[:, 0]).sum())

    def size_ratio(self, level: int) -> float:
        """How many times as large sets were as those of a rolling quantile; NaN if unknown."""
        return ratio_of_means(self.kept.sizes[:, level], self.kept.references[:, level])

    def thirds(self, level: int) -> list[Part]:
        """The loss in the low, middle and high third of each column, where rows are enough."""
        losses = self.kept.losses[:, level]
        return [
            Part(name, int(rows.sum()), float(losses[rows].mean()), _error(losses[rows]), "third")
            for at, column in enumerate(self.columns or ())
            for name, rows in _thirds(column, self.kept.values[:, at], np.isfinite(losses))
            if rows.sum() >= LEAST_ROUNDS
        ]

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Content and arrays for `restore`."""
        columns = None if self.columns is None else [*self.columns]
        content = {"columns": columns, "seen": self.seen, "halvings": self._halvings}
        arrays: dict[str, NDArray[Any]] = dict(zip(_NAMES, self.kept, strict=True))
        values = np.frombuffer(self.kept.values.astype("<f4").tobytes(), np.uint8)
        return content, arrays | {"values": values}

    def restore(self, content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state`."""
        numbers, values, *more = (arrays[name].copy() for name in _NAMES)
        columns = None if content["columns"] is None else tuple(content["columns"])
        table = values.view("<f4").astype(np.float32).reshape(len(numbers), len(columns or ()))
        if any(part.shape != (len(numbers), self.kept.losses.shape[1]) for part in more):
            raise ValueError("its sample of rows does not fit together")
        self.columns, self.seen = columns, int(content["seen"])
        self._halvings = int(content["halvings"])
        self.kept = Kept(numbers, table, *more)


def _thirds(
    column: ColumnName, values: NDArray[np.float32], known: NDArray[np.bool_]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Rows by third of a column; by value where it has at most three."""
    name = column if isinstance(column, str) else f"column {column}"
    known = known & np.isfinite(values)
    some = np.unique(values[known])
    if len(some) < 2:
        return
    if len(some) <= 3:
        for value in some.tolist():
            yield f"{name} = {value:.4g}", known & (values == value)
        return
    low, high = np.quantile(values[known], [1 / 3, 2 / 3], method="lower")
    yield f"{name} up to {low:.4g}", known & (values <= low)
    yield f"{name} from {low:.4g} to {high:.4g}", known & (values > low) & (values <= high)
    yield f"{name} above {high:.4g}", known & (values > high)


def _error(losses: FloatArray) -> float:
    return float(losses.std() / len(losses) ** 0.5)


def _hash(numbers: IntArray) -> NDArray[np.uint64]:
    """The finalizer of SplitMix64 (Steele, Lea and Flood, 2014): bits that look random."""
    x = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = x ^ (x >> np.uint64(31))
    return mixed
