"""Local parts per key: an expansion for each L-ARC stream, unpacked on first use."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from localarc.adaptive.settings import Settings
from localarc.calibrators.undo import Undo
from localarc.many.panel.late import AFTER, ASK, LEARN, Answers, LateEvents
from localarc.many.panel.local.ragged import Packed, pack
from localarc.many.panel.running_constants import RunningConstants
from localarc.memory.base import Arrays, Expansion
from localarc.memory.stepwise import step
from localarc.validation import FloatArray, IntArray


class PerKeyExpansions:
    """f of each row, with |f|^2 where a radius bounds it; a row without one has f = 0."""

    def __init__(self, settings: Settings, dimension: int, arrays: Arrays) -> None:
        self._settings = settings
        self.dimension = dimension
        rows = arrays["rows"].tolist() if "rows" in arrays else []
        parts = {name: array for name, array in arrays.items() if name not in ("rows", "squares")}
        self._packed = Packed(parts)
        self._packed_rows: dict[int, int] = {row: part for part, row in enumerate(rows)}
        self._expansions: dict[int, Expansion] = {}
        squares = arrays["squares"].tolist() if "squares" in arrays else []
        self._squares: dict[int, float] = dict(zip(rows, squares, strict=True))
        self._clip = np.inf if settings.clip is None else settings.clip
        self._radius = np.inf if settings.radius is None else settings.radius

    def get(self, row: int) -> Expansion | None:
        """The expansion of a row, None if it has none."""
        if row not in self._expansions and row in self._packed_rows:
            self._expansions[row] = self._empty().restore(self._packed[self._packed_rows[row]])
            del self._packed_rows[row]
        return self._expansions.get(row)

    def square(self, row: int) -> float:
        """|f|^2 of a row."""
        return self._squares.get(row, 0.0)

    def put(self, row: int, local: Expansion | None, square: float) -> None:
        """Replace the expansion of a row."""
        self._packed_rows.pop(row, None)
        self._expansions.pop(row, None)
        self._squares[row] = square
        if local is not None:
            self._expansions[row] = local

    def _empty(self) -> Expansion:
        kernel: Any = self._settings.kernel
        return self._settings.memory.expansion(kernel, self.dimension)

    def evaluate(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """f, clipped, at each point, for the row it belongs to."""
        return np.array([self._at(*event) for event in zip(rows.tolist(), points, strict=True)])

    def _at(self, row: int, point: FloatArray) -> float:
        local = self.get(row)
        here = 0.0 if local is None else local.evaluate_one(point)
        return min(max(here, -self._clip), self._clip)

    def note(self, rows: IntArray, undo: Undo) -> None:
        """These distinct rows are about to change."""
        for row in rows.tolist():
            undo.note(self._put_back, row, self._arrays(row), self.square(row))

    def _put_back(self, row: int, arrays: Arrays | None, square: float) -> None:
        self.put(row, None if arrays is None else self._empty().restore(arrays), square)

    def learn(
        self, rows: IntArray, points: FloatArray, rates: FloatArray, pushes: FloatArray
    ) -> FloatArray:
        """Apply eq. (kernel_update) to each event, in order; f at each before that, if watched."""
        decays = 1.0 - rates * self._settings.regularization
        events = zip(rows.tolist(), points, decays.tolist(), pushes.tolist(), strict=True)
        watched = self._settings.score_range is not None
        before = np.full(len(rows), np.nan)
        for i, (row, point, decay, push) in enumerate(events):
            if watched:
                before[i] = self._at(row, point)
            self._learn(row, point, decay, push)
        return before

    def _learn(self, row: int, point: FloatArray, decay: float, push: float) -> None:
        local = self.get(row)
        if local is None:
            local = self._expansions[row] = self._empty()
        kernel: Any = self._settings.kernel
        square = self.square(row)
        self._squares[row] = step(local, kernel, point, decay, push, self._radius, square)

    def serve(
        self,
        constants: RunningConstants,
        rows: IntArray,
        rates: FloatArray,
        events: LateEvents,
        answers: Answers,
    ) -> None:
        """Thresholds that go out and losses that come in, in order."""
        self._serve(constants.constants(rows), rows, rates, events, answers)
        acts = np.where(events.learns, LEARN, 0)  # thresholds are known
        constants.serve(rows, rates, replace(events, acts=acts), answers)

    def _serve(
        self,
        constants: FloatArray,
        rows: IntArray,
        rates: FloatArray,
        events: LateEvents,
        answers: Answers,
    ) -> None:
        alpha, floor = self._settings.limits[:2]
        now = dict(zip(rows.tolist(), constants.tolist(), strict=True))
        decays = (1.0 - rates * self._settings.regularization).tolist()
        steps, asks, pending = rates.tolist(), events.asked.tolist(), len(events.thresholds)
        points, thresholds = events.points, answers.thresholds
        for i, (row, act) in enumerate(zip(rows.tolist(), events.acts.tolist(), strict=True)):
            if act & ASK:
                thresholds[pending + i] = now[row] + self._at(row, points[pending + i])
            if act & LEARN:
                asked = asks[i]
                loss = events.loss_at(i, float(thresholds[asked]))
                push = steps[i] * (loss - alpha)
                self._learn(row, points[asked], decays[i], push)
                now[row] = max(now[row] + push, floor)
            if act & AFTER:
                answers.after[i] = now[row] + self._at(row, points[pending + i])

    def keep(self, rows: IntArray, undo: Undo) -> None:
        """Drop all rows but these, which are renumbered from 0."""
        undo.note(vars(self).update, dict(vars(self)))
        new_rows = {old: new for new, old in enumerate(rows.tolist())}
        self._packed_rows = {
            new_rows[row]: p for row, p in self._packed_rows.items() if row in new_rows
        }
        self._expansions = {
            new_rows[row]: f for row, f in self._expansions.items() if row in new_rows
        }
        self._squares = {new_rows[row]: s for row, s in self._squares.items() if row in new_rows}

    def arrays(self) -> dict[str, Any]:
        """Everything needed to resume, bit for bit."""
        rows = sorted([*self._packed_rows, *self._expansions])
        if not rows:
            return {}
        parts = [self._stored(row) for row in rows]
        squares = np.array([self.square(row) for row in rows], np.float64)
        return pack(parts) | {"rows": np.array(rows, np.int64), "squares": squares}

    def copy(self, row: int) -> tuple[Expansion | None, float]:
        """A separate copy of the expansion, and |f|^2."""
        return copy.deepcopy(self.get(row)), self.square(row)

    def _stored(self, row: int) -> Arrays:
        if row in self._packed_rows:
            return self._packed[self._packed_rows[row]]
        return self._expansions[row].arrays()

    def _arrays(self, row: int) -> Arrays | None:
        return self._stored(row) if row in self._packed_rows or row in self._expansions else None
