"""The running constants of many streams: one row per stream, in one array."""

from __future__ import annotations

import copy
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.calibrators.undo import Undo
from localarc.many.panel import event_loops
from localarc.many.panel.late import Answers, LateEvents
from localarc.rates import Rate
from localarc.validation import FloatArray, IntArray


@cache
def _compiled() -> bool:
    """Whether numba, which compiles the engine's loops, is installed."""
    return find_spec("numba") is not None


def new_row(start: float) -> FloatArray:
    """The fields of a running constant before its first round."""
    first = RunningConstant(start)
    return np.array([getattr(first, name) for name in RunningConstant.FIELDS], float)


class RunningConstants:
    """The fields of `RunningConstant` as the columns of an array that grows by doubling."""

    def __init__(self, settings: Settings, values: FloatArray | None = None) -> None:
        self.limits = settings.limits
        self._new = new_row(settings.start)
        self._array = np.empty((0, len(self._new))) if values is None else values
        self.count = len(self._array)

    @property
    def values(self) -> FloatArray:
        """The rows in use."""
        return self._array[: self.count]

    @property
    def all_rows(self) -> FloatArray:
        """The rows in use, and those reserved for new streams."""
        return self._array

    def column(self, name: str) -> FloatArray:
        """One field of every stream."""
        return self.values[:, RunningConstant.FIELDS.index(name)]

    def make_room(self, count: int) -> None:
        """Make room for `count` rows; rows beyond those in use are initialised as new streams."""
        if count > len(self._array):
            old = self._array
            larger = np.empty((max(count, 2 * len(old), 16), len(self._new)))
            larger[: self.count] = old[: self.count]
            self._array = larger
        self._array[self.count : count] = self._new

    def note(self, rows: IntArray, undo: Undo) -> None:
        """These distinct rows are about to change."""
        known = rows[rows < self.count]
        undo.note(vars(self).update, {"_array": self._array, "count": self.count})
        undo.note(self._array.__setitem__, known, self._array[known])

    def rates(self, rate: Rate, rows: IntArray) -> FloatArray:
        """The step size of each event, by its position within its stream."""
        loops: Any = event_loops
        if _compiled():
            from localarc.engine import running_constants as loops

        rounds = np.empty(len(rows), np.int64)
        loops.count_rounds(self._array, rows, rounds)
        distinct, where = np.unique(rounds, return_inverse=True)
        steps = np.array([rate(t) for t in distinct.tolist()], np.float64)  # bit for bit as online
        return steps[where]

    def learn(
        self, rows: IntArray, rates: FloatArray, losses: FloatArray, local: FloatArray
    ) -> None:
        """Apply each event to its row, in order; `local` is the local part of its threshold."""
        loops: Any = event_loops
        if _compiled():
            from localarc.engine import running_constants as loops

        loops.learn(self._array, rows, rates, losses, local, self.limits)

    def serve(
        self, rows: IntArray, rates: FloatArray, events: LateEvents, answers: Answers
    ) -> None:
        """Events without a local part, or whose thresholds are known."""
        if not _compiled():
            event_loops.serve(self._array, rows, rates, self.limits, events, answers)
            return
        from localarc.engine.keyed import late as loops

        acts, asked, steps = events.acts, events.asked, events.steps()
        loops.serve(self._array, rows, acts, asked, rates, self.limits, steps, answers.arrays)

    def constants(self, rows: IntArray) -> FloatArray:
        """c of each row; that of a new stream where the row is -1."""
        return self._field("constant", rows)

    def rounds(self, rows: IntArray) -> IntArray:
        """How many losses each row has learned; 0 where the row is -1."""
        return self._field("rounds", rows).astype(np.int64)

    def _field(self, name: str, rows: IntArray) -> FloatArray:
        column = RunningConstant.FIELDS.index(name)
        values = np.full(len(rows), self._new[column])
        known = rows >= 0
        values[known] = self._array[rows[known], column]
        return values

    def kept(self, rows: IntArray) -> RunningConstants:
        """These rows alone, renumbered from 0."""
        new = copy.copy(self)
        new._array, new.count = self.values[rows], len(rows)
        return new

    def get(self, row: int) -> RunningConstant:
        """A separate copy of one row."""
        return RunningConstant.restored(
            dict(zip(RunningConstant.FIELDS, self._array[row].tolist(), strict=True))
        )

    def put(self, row: int, constant: RunningConstant) -> None:
        """Replace a row."""
        self._array[row] = [getattr(constant, name) for name in RunningConstant.FIELDS]
