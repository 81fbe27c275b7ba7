"""Pending rows: the model's output and the thresholds each had when it was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc.calibrators.tickets import not_pending
from localarc.models.kinds.base import Outputs
from localarc.validation import FloatArray, IntArray


class Pending:
    """Outputs and thresholds by id."""

    def __init__(self) -> None:
        self.rows: dict[int, tuple[Any, FloatArray]] = {}
        self.unbounded: dict[int, NDArray[np.bool_]] = {}  # of few: at which levels sets were full
        self.sampled: dict[int, int] = {}  # of few: their numbers in the sample

    def __len__(self) -> int:
        return len(self.rows)

    @staticmethod
    def remembered(
        ids: IntArray, outputs: Outputs, played: FloatArray
    ) -> dict[int, tuple[Any, FloatArray]]:
        """Rows as they are remembered."""
        # Copies: one pending row must not keep its whole batch alive.
        return {
            number: (np.array(output), threshold.copy())
            for number, output, threshold in zip(ids.tolist(), outputs, played, strict=True)
        }

    def find(self, ids: ArrayLike) -> tuple[IntArray, Outputs, FloatArray]:
        """Ids, outputs and thresholds; raises unless all are pending, each once."""
        try:
            numbers = np.atleast_1d(np.asarray(ids))
        except ValueError:  # rows of different lengths
            numbers = np.empty((0, 0))
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise TypeError(f"ids must be whole numbers, as in batch.ids, got {ids!r:.60}.")
        listed = numbers.tolist()
        if len(set(listed)) < len(listed):
            raise ValueError("ids must be distinct, one was passed twice. Nothing was learned.")
        for number in listed:
            if number not in self.rows:
                raise not_pending(number)
        found = [self.rows[number] for number in listed]
        outputs = stacked([output for output, _ in found])
        return numbers.astype(np.int64), outputs, np.array([played for _, played in found])

    def note(self, ids: IntArray, unbounded: NDArray[np.bool_], sampled: dict[int, int]) -> None:
        """Remember which rows had unbounded sets, and which are in the sample."""
        some = np.flatnonzero(unbounded.any(axis=1))
        self.unbounded.update(zip(ids[some].tolist(), unbounded[some].copy(), strict=True))
        self.sampled.update(sampled)

    def notes(
        self, ids: IntArray, losses: FloatArray
    ) -> tuple[NDArray[np.bool_], IntArray, IntArray]:
        """Where sets were unbounded, (n, levels); which rows are in the sample, and where."""
        unbounded = np.zeros(losses.shape, bool)
        sampled: list[tuple[int, int]] = []
        for row, number in enumerate(ids.tolist()):
            if number in self.unbounded:
                unbounded[row] = self.unbounded[number]
            if number in self.sampled:
                sampled.append((row, self.sampled[number]))
        rows, numbers = np.array(sampled, np.int64).reshape(-1, 2).T
        return unbounded, rows, numbers

    def drop(self, ids: IntArray) -> None:
        """Drop rows whose outcome was learned."""
        for number in ids.tolist():
            self.rows.pop(number, None)
            self.unbounded.pop(number, None)
            self.sampled.pop(number, None)


def stacked(outputs: Sequence[Any]) -> Outputs:
    """Outputs of rows as one array; of objects where they differ in shape."""
    if len({output.shape for output in outputs}) <= 1:
        return np.array(outputs)
    rows = np.empty(len(outputs), object)
    for t, output in enumerate(outputs):
        rows[t] = output
    return rows
