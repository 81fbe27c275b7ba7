"""Thresholds for each label, so that coverage holds for every true class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.calibrators.auto import LabelSets
from localarc.models.kinds.base import Outputs
from localarc.models.kinds.labels import LabelKind
from localarc.models.levels import GroupsOfRows
from localarc.validation import FloatArray, IntArray


class PerClass:
    """One LabelSets per coverage level: as `Levels`, with a threshold for each label.

    Sets of several levels are nested by taking the larger threshold; each level is charged for its
    own threshold, which is at most the one shown.

    Parameters
    ----------
    kind : LabelKind
        The score of labels.
    coverages : sequence of float
        The levels, ascending, in (0, 1).
    """

    def __init__(self, kind: LabelKind, coverages: Sequence[float]) -> None:
        self.kind, self.coverages = kind, tuple(coverages)
        self.calibrators: tuple[tuple[LabelSets, ...], ...] = ()

    def _ready(self, outputs: Outputs) -> list[LabelSets]:
        if not self.calibrators:
            names = range(outputs.shape[1])
            alphas = [round(1.0 - coverage, 12) for coverage in self.coverages]
            self.calibrators = tuple((LabelSets(alpha, labels=names),) for alpha in alphas)
        return [level[0] for level in self.calibrators]

    @property
    def rounds(self) -> int:
        """The number of rows learned from."""
        return self.calibrators[0][0].rounds if self.calibrators else 0

    @property
    def pending(self) -> int:
        """The number of rows whose label is still to come."""
        return len(self.calibrators[0][0].pending) if self.calibrators else 0

    def needed(self, level: int) -> int:
        """How many labels a level needs before any may be left out."""
        return math.ceil(1.0 / round(1.0 - self.coverages[level], 12))

    # ---- thresholds, of shape (n, levels, labels) --------------------------------------------

    def look(self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs) -> FloatArray:
        """The thresholds of rows as they would be now; changes nothing."""
        found = [
            [[*cal.thresholds(x, of_row).values()] for cal in self._ready(outputs)]
            for x, of_row in _rows(points, groups)
        ]
        return self._nested(found, outputs)

    def ask(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs
    ) -> tuple[IntArray, FloatArray]:
        """Ids, which are the same for all levels, and thresholds."""
        ids, found = [], []
        for (x, of_row), scores in zip(_rows(points, groups), outputs, strict=True):
            tickets = [cal.ask(x, scores, of_row) for cal in self._ready(outputs)]
            ids.append(tickets[0].id)
            found.append([[*ticket.thresholds.values()] for ticket in tickets])
        return np.array(ids, np.int64), self._nested(found, outputs)

    def _nested(self, found: list[list[list[float]]], outputs: Outputs) -> FloatArray:
        table = np.array(found, float).reshape(len(found), len(self.coverages), outputs.shape[1])
        nested: FloatArray = np.maximum.accumulate(table, axis=1)
        return nested

    def learn(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs, y: Any
    ) -> FloatArray:
        """Learn from rows in order; returns the thresholds that they would have had then."""
        columns = self.kind.columns_of(outputs, y)
        found = []
        for (x, of_row), scores, label in zip(
            _rows(points, groups), outputs, columns.tolist(), strict=True
        ):
            row = []
            for cal in self._ready(outputs):
                row.append([*cal.thresholds(x, of_row).values()])
                cal.update(x, scores, label, of_row)
            found.append(row)
        return self._nested(found, outputs)

    def tell(self, ids: IntArray, played: FloatArray, outputs: Outputs, y: Any) -> None:
        """Learn the labels of rows that were asked."""
        columns = self.kind.columns_of(outputs, y)
        for number, label in zip(ids.tolist(), columns.tolist(), strict=True):
            for cal in self._ready(outputs):
                cal.tell(number, label)

    def forget(self, ids: IntArray) -> None:
        """Give up waiting for rows."""
        for number in ids.tolist():
            for (cal,) in self.calibrators:
                cal.forget(number)

    def shown(self, played: FloatArray, learned: IntArray | int) -> FloatArray:
        """Thresholds with full sets where fewer labels were known than a level needs."""
        shown = played.copy()
        for level in range(len(self.coverages)):
            early = np.broadcast_to(np.asarray(learned) < self.needed(level), len(shown))
            shown[early, level] = self.kind.full
        return shown

    def restart_units(self) -> None:
        """The model is another one: scores will lie elsewhere, the promise goes on."""
        for (cal,) in self.calibrators:
            cal.restart_units()

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> list[bytes]:
        """The states of all levels."""
        return [cal.state() for (cal,) in self.calibrators]

    def restore(self, states: Sequence[bytes]) -> None:
        """Continue from `state`."""
        self.calibrators = tuple((LabelSets.from_state(data),) for data in states)


def _rows(points: FloatArray, groups: GroupsOfRows) -> list[tuple[FloatArray | None, Any]]:
    inputs = list(points) if points.shape[1] else [None] * len(points)
    labels: list[Any] = [()] * len(points) if groups is None else [*groups]
    return list(zip(inputs, labels, strict=True))
