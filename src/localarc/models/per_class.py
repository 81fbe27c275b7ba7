"""Thresholds for each label, so that coverage holds for every true class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from localarc.calibrators.auto import LabelSets, many_labels
from localarc.models.journal import Journal, Step
from localarc.models.kinds.base import Outputs
from localarc.models.kinds.labels import LabelKind
from localarc.models.levels import GroupsOfRows, full_until_known, groups_from
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
        self.journal = Journal()

    def _ready(self, outputs: Outputs) -> list[LabelSets]:
        """The calibrators, which are made when the number of labels is known."""
        if not self.calibrators:
            names = range(outputs.shape[1])
            alphas = [round(1.0 - coverage, 12) for coverage in self.coverages]
            self.calibrators = tuple((LabelSets(alpha, labels=names),) for alpha in alphas)
        return self.each

    @property
    def each(self) -> list[LabelSets]:
        """All calibrators; none before the first row."""
        return [cal for (cal,) in self.calibrators]

    @property
    def rounds(self) -> int:
        """The number of rows learned from."""
        return self.calibrators[0][0].rounds if self.calibrators else 0

    def needed(self, level: int) -> int:
        """How many labels a level needs before any may be left out."""
        return math.ceil(1.0 / round(1.0 - self.coverages[level], 12))

    # ---- thresholds, of shape (n, levels, labels) --------------------------------------------

    def look(self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs) -> FloatArray:
        """The thresholds of rows as they would be now; changes nothing."""
        each = self._ready(outputs)
        return _nested([many_labels.thresholds(cal, points, groups) for cal in each])

    def ask(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs
    ) -> tuple[IntArray, FloatArray]:
        """Ids, which are the same for all levels, and thresholds."""
        found: list[tuple[IntArray, FloatArray]] = []

        def run(cal: LabelSets, start: int) -> None:
            where = points[start:], outputs[start:], groups_from(groups, start)
            found.append(many_labels.ask(cal, *where))

        self._run(self._ready(outputs), len(points), run)
        if not found:
            return np.empty(0, np.int64), np.empty((0, len(self.coverages), outputs.shape[1]))
        return found[0][0], _nested([thresholds for _, thresholds in found])

    # ---- learning ----------------------------------------------------------------------------

    def learn(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs, y: Any
    ) -> FloatArray:
        """Learn from rows in order; returns the thresholds that they would have had then."""
        true = self.kind.columns_of(outputs, y)
        found: list[FloatArray] = []

        def run(cal: LabelSets, start: int) -> None:
            where = points[start:], outputs[start:], true[start:], groups_from(groups, start)
            found.append(many_labels.learn(cal, *where))

        self._run(self._ready(outputs), len(points), run)
        if not found:
            return np.empty((0, len(self.coverages), outputs.shape[1]))
        return _nested(found)

    def tell(self, ids: IntArray, played: FloatArray, outputs: Outputs, y: Any) -> None:
        """Learn the labels of rows that were asked."""
        true = self.kind.columns_of(outputs, y)

        def run(cal: LabelSets, start: int) -> None:
            many_labels.tell(cal, ids[start:], true[start:])

        self._run(self._ready(outputs), len(ids), run)

    def forget(self, ids: IntArray) -> None:
        """Stop waiting for the outcomes of rows."""

        def run(cal: LabelSets, start: int) -> None:
            for number in ids[start:].tolist():
                cal.forget(number)

        self._run(self.each, len(ids), run)

    def _run(
        self, each: Sequence[LabelSets], rows: int, run: Callable[[LabelSets, int], None]
    ) -> None:
        self.journal.run([Step.of(cal, rows, partial(run, cal)) for cal in each])

    def shown(self, played: FloatArray, learned: IntArray | int) -> FloatArray:
        """Thresholds with full sets where fewer labels were known than a level needs."""
        needed = [self.needed(level) for level in range(len(self.coverages))]
        return full_until_known(played, learned, needed, self.kind.full)

    def restart_units(self) -> None:
        """Prepare for another model: scores will lie elsewhere, and the promise continues."""
        for cal in self.each:
            cal.restart_units()

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> list[bytes]:
        """The states of all levels."""
        return [cal.state() for cal in self.each]

    def restore(self, states: Sequence[bytes]) -> None:
        """Continue from `state`."""
        if len(states) not in (0, len(self.coverages)):
            raise ValueError(f"{len(states)} states for {len(self.coverages)} levels")
        self.calibrators = tuple((LabelSets.from_state(data),) for data in states)


def _nested(found: Sequence[FloatArray]) -> FloatArray:
    nested: FloatArray = np.maximum.accumulate(np.stack(found, axis=1), axis=1)
    return nested
