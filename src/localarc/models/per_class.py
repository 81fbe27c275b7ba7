"""Thresholds for each label, so that coverage holds for every true class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from localarc.calibrators.auto import LabelSets, many_labels
from localarc.models.journal import Journal, Step, Work
from localarc.models.kinds.base import Outputs
from localarc.models.kinds.labels import LabelKind
from localarc.models.levels import GroupsOfRows, Learned, full_until_known, groups_from
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
    ) -> Work[tuple[IntArray, FloatArray]]:
        """Ids, which are the same for all levels, and thresholds."""
        found: list[tuple[IntArray, FloatArray]] = []

        def run(start: int, cal: LabelSets) -> None:
            where = points[start:], outputs[start:], groups_from(groups, start)
            found.append(many_labels.ask(cal, *where))

        def asked() -> tuple[IntArray, FloatArray]:
            if not found:
                return np.empty(0, np.int64), np.empty((0, len(self.coverages), outputs.shape[1]))
            return found[0][0], _nested([thresholds for _, thresholds in found])

        each = self._ready(outputs)
        return Work([Step.of(cal, len(points), partial(run, cal=cal)) for cal in each], asked)

    # ---- learning ----------------------------------------------------------------------------

    def learn(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs, y: Any
    ) -> Work[Learned]:
        """Learn from rows in order, with the thresholds that they would have had then."""
        true = self.kind.columns_of(outputs, y)
        own = np.empty((len(self.coverages), *outputs.shape))

        def run(start: int, cal: LabelSets, found: FloatArray) -> None:
            where = points[start:], outputs[start:], true[start:], groups_from(groups, start)
            many_labels.learn(cal, *where, found[start:])

        pairs = zip(self._ready(outputs), own, strict=True)
        steps = [
            Step.of(cal, len(points), partial(run, cal=cal, found=part)) for cal, part in pairs
        ]
        return Work(steps, lambda: _learned(outputs, true, _nested([*own])))

    def tell(self, ids: IntArray, played: FloatArray, outputs: Outputs, y: Any) -> Work[Learned]:
        """Learn the labels of rows that were asked."""
        true = self.kind.columns_of(outputs, y)

        def run(start: int, cal: LabelSets) -> None:
            many_labels.tell(cal, ids[start:], true[start:])

        steps = [Step.of(cal, len(ids), partial(run, cal=cal)) for cal in self._ready(outputs)]
        return Work(steps, lambda: _learned(outputs, true, played))

    def forget(self, ids: IntArray) -> list[Step]:
        """Stop waiting for the outcomes of rows."""

        def run(start: int, cal: LabelSets) -> None:
            for number in ids[start:].tolist():
                cal.forget(number)

        return [Step.of(cal, len(ids), partial(run, cal=cal)) for cal in self.each]

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


def _learned(outputs: Outputs, true: IntArray, played: FloatArray) -> Learned:
    rows = np.arange(len(true))
    missed = outputs[rows, true][:, None] > played[rows, :, true]
    return Learned(played, missed.astype(float), None)


def _nested(found: Sequence[FloatArray]) -> FloatArray:
    nested: FloatArray = np.maximum.accumulate(np.stack(found, axis=1), axis=1)
    return nested
