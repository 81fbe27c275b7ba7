"""Traces: the constants of many streams and their sums, one row a stream, in one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.calibrators.running_constant import RunningConstant
from localarc.rates import Rate
from localarc.validation import FloatArray, IntArray


class Traces:
    """The fields of `RunningConstant` as the columns of an array that grows by doubling."""

    def __init__(self, start: float, values: FloatArray | None = None) -> None:
        first = RunningConstant(start)
        self._new = np.array([getattr(first, name) for name in RunningConstant.FIELDS])
        self._array = np.empty((0, len(self._new))) if values is None else np.array(values)
        self.count = len(self._array)

    @property
    def values(self) -> FloatArray:
        """The rows in use."""
        return self._array[: self.count]

    @property
    def all_rows(self) -> FloatArray:
        """The rows in use, and those that wait for new streams."""
        return self._array

    def column(self, name: str) -> FloatArray:
        """One field of every trace."""
        return self.values[:, RunningConstant.FIELDS.index(name)]

    def make_room(self, count: int) -> None:
        """Have `count` rows at hand; those beyond the ones in use are those of new streams."""
        if count > len(self._array):
            old = self._array
            self._array = np.empty((max(count, 2 * len(old), 16), len(self._new)))
            self._array[: self.count] = old[: self.count]
        self._array[self.count : count] = self._new

    def rates(self, rate: Rate, rows: IntArray) -> FloatArray:
        """The step of each event: its stream's next one, the one after for a second event, ..."""
        from localarc.engine import running_constants as loops

        rounds = np.empty(len(rows), np.int64)
        loops.ahead(self._array, rows, rounds)
        distinct, where = np.unique(rounds, return_inverse=True)
        steps = np.array([rate(t) for t in distinct.tolist()], np.float64)  # as online, to the bit
        return steps[where]

    def learn(self, rows: IntArray, rates: FloatArray, losses: FloatArray, alpha: float) -> None:
        """Let each event move the trace of its row, in order."""
        from localarc.engine import running_constants as loops

        loops.learn(self._array, rows, rates, losses, alpha)

    def play(
        self, rows: IntArray, rates: FloatArray, curves: Any, alpha: float
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of events that are played with the constant alone."""
        from localarc.engine import running_constants as loops
        from localarc.engine.tiles import plain

        thresholds, losses = np.empty((2, len(rows)))
        offsets = np.require(curves.offsets, np.int64, ["C", "W"])
        steps = plain(curves.breakpoints), plain(curves.losses), offsets
        loops.play(self._array, rows, rates, alpha, steps, thresholds, losses)
        return thresholds, losses

    def constants(self, rows: IntArray) -> FloatArray:
        """c of each row; that of a new stream where the row is -1."""
        return self._field("constant", rows)

    def rounds(self, rows: IntArray) -> IntArray:
        """How many losses each row has learnt; none where the row is -1."""
        return self._field("rounds", rows).astype(np.int64)

    def _field(self, name: str, rows: IntArray) -> FloatArray:
        column = RunningConstant.FIELDS.index(name)
        values = np.full(len(rows), self._new[column])
        known = rows >= 0
        values[known] = self._array[rows[known], column]
        return values

    def keep(self, rows: IntArray) -> None:
        """Forget all rows but these, which move together."""
        self._array = self.values[rows]
        self.count = len(rows)

    def get(self, row: int) -> RunningConstant:
        """One trace, to go on alone."""
        return RunningConstant.restored(
            dict(zip(RunningConstant.FIELDS, self._array[row].tolist(), strict=True))
        )

    def put(self, row: int, trace: RunningConstant) -> None:
        """Take over a trace."""
        self._array[row] = [getattr(trace, name) for name in RunningConstant.FIELDS]
