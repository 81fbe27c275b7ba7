"""Calibration: what a Calibrated model has learned, and how rows pass through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc.models.columns import Columns
from localarc.models.frames import Table
from localarc.models.kinds.base import Outputs, SetKind
from localarc.models.kinds.labels import LabelKind
from localarc.models.levels import GroupsOfRows, Levels
from localarc.models.pending import Pending
from localarc.models.per_class import PerClass
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True)
class Reading:
    """Rows as the calibrators see them."""

    table: Table
    outputs: Outputs
    points: FloatArray
    groups: GroupsOfRows


class Calibration:
    """Thresholds for rows, learned from their outcomes.

    Parameters
    ----------
    kind : SetKind
        What sets are made of.
    coverages : sequence of float
        The levels, ascending.
    columns : Columns
        Where rows are, and their groups.
    per_class : bool
        Whether each true class is covered.
    """

    def __init__(
        self, kind: SetKind, coverages: Sequence[float], columns: Columns, per_class: bool
    ) -> None:
        self.kind, self.columns = kind, columns
        self.levels: Levels | PerClass
        if per_class:
            assert isinstance(kind, LabelKind)
            self.levels = PerClass(kind, coverages)
        else:
            self.levels = Levels(kind, coverages)
        self.pending = Pending()
        self.sizes = np.zeros((2, len(coverages)))  # how many sets were finite, and their sizes

    def use(self, kind: SetKind) -> None:
        """Go on with another kind, which differs in its scale alone."""
        self.kind = self.levels.kind = kind

    def read(self, model: Any, X: Any, given: Any, *, many: bool) -> Reading:
        """Rows with what the model says of them; `many`: they show all categories of columns."""
        table = Table(X)
        outputs = self.kind.outputs(model, X, given)
        if len(outputs) != len(table):
            raise ValueError(
                f"there are {len(table)} rows and {len(outputs)} predictions; one each is needed."
            )
        self.columns.fix(table, many)
        points = self.columns.points(table, self.kind.place(outputs))
        return Reading(table, outputs, points, self.columns.labels(table))

    def look(self, rows: Reading) -> FloatArray:
        """The thresholds to show for rows now; changes nothing."""
        played = self.levels.look(rows.points, rows.groups, rows.outputs)
        return self.levels.shown(played, self.levels.rounds)

    def learn(self, rows: Reading, y: Any) -> FloatArray:
        """Learn from rows in order; returns the thresholds that each would have been shown."""
        before = self.levels.rounds
        played = self.levels.learn(rows.points, rows.groups, rows.outputs, y)
        shown = self.levels.shown(played, before + np.arange(len(played), dtype=np.int64))
        self._measure(rows.outputs, shown)
        return shown

    def ask(self, rows: Reading) -> tuple[IntArray, FloatArray]:
        """Ids, and the thresholds to show, of rows whose outcome comes later."""
        ids, played = self.levels.ask(rows.points, rows.groups, rows.outputs)
        self.pending.add(ids, rows.outputs, played)
        shown = self.levels.shown(played, self.levels.rounds)
        self._measure(rows.outputs, shown)
        return ids, shown

    def tell(self, ids: ArrayLike, y: Any) -> None:
        """Learn from the outcomes of rows that were asked."""
        numbers, outputs, played = self.pending.find(ids)
        if not len(numbers):
            return
        self.levels.tell(numbers, played, outputs, y)
        self.pending.drop(numbers)

    def forget(self, ids: ArrayLike) -> None:
        """Give up waiting for rows."""
        numbers, _, _ = self.pending.find(ids)
        self.levels.forget(numbers)
        self.pending.drop(numbers)

    def _measure(self, outputs: Outputs, shown: FloatArray) -> None:
        """Add up the sizes of sets that were shown."""
        sizes = self.kind.sizes(self.kind.sets(outputs, shown))
        finite = np.isfinite(sizes)
        self.sizes += [finite.sum(axis=0), np.where(finite, sizes, 0.0).sum(axis=0)]

    @property
    def mean_sizes(self) -> list[float]:
        """The mean size of finite sets, per level; NaN before the first."""
        return [total / count if count else np.nan for count, total in self.sizes.T.tolist()]
