"""Calibration: what a Calibrated model has learned, and how rows pass through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from localarc.calibrators.one_thread import in_use
from localarc.frames import rows_of
from localarc.models.columns import Columns
from localarc.models.features import Feature
from localarc.models.frames import Table
from localarc.models.kinds.base import Outputs, SetKind
from localarc.models.kinds.labels import LabelKind
from localarc.models.levels import GroupsOfRows, Levels
from localarc.models.pending import Pending
from localarc.models.per_class import PerClass
from localarc.validation import FloatArray, IntArray

T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """Rows as the calibrators see them."""

    table: Table
    outputs: Outputs
    points: FloatArray
    groups: GroupsOfRows
    features: tuple[Feature, ...]


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
        self._busy = False
        self.sizes = np.zeros((2, len(coverages)))  # how many sets were finite, and their sizes

    def use(self, kind: SetKind) -> None:
        """Go on with another kind, which differs in its scale alone."""
        self.kind = self.levels.kind = kind

    def read(self, model: Any, X: Any, given: Any, *, many: bool) -> Reading:
        """Rows with the model's output; `many`: they show all categories of columns."""
        rows_of(X, *(given if isinstance(given, tuple) else (given,)))  # raises if indexes differ
        table = Table(X)
        if given is None and not len(table):
            given = self.kind.nothing()  # models refuse to predict no rows
        outputs = self.kind.outputs(model, X, given)
        if len(outputs) != len(table):
            raise ValueError(
                f"there are {len(table)} rows and {len(outputs)} predictions; one each is needed."
            )
        features = self.columns.fixed(table, many)
        points = self.columns.points(table, self.kind.place(outputs), features)
        return Reading(table, outputs, points, self.columns.labels(table), features)

    # ---- calls -------------------------------------------------------------------------------

    def look(self, rows: Reading) -> FloatArray:
        """The thresholds to show for rows now; changes nothing."""

        def call() -> FloatArray:
            played = self.levels.look(rows.points, rows.groups, rows.outputs)
            return self.levels.shown(played, self.levels.rounds)

        return self.alone(call)

    def learn(self, rows: Reading, y: Any) -> FloatArray:
        """Learn from rows in order; returns the thresholds that each would have been shown."""

        def call() -> FloatArray:
            before = self.levels.rounds
            played = self.levels.learn(rows.points, rows.groups, rows.outputs, y)
            shown = self.levels.shown(played, before + np.arange(len(played), dtype=np.int64))
            self._note(rows, shown)
            return shown

        return self._change(call)

    def ask(self, rows: Reading) -> tuple[IntArray, FloatArray]:
        """Ids, and the thresholds to show, of rows whose outcome comes later."""

        def call() -> tuple[IntArray, FloatArray]:
            ids, played = self.levels.ask(rows.points, rows.groups, rows.outputs)
            self.pending.add(ids, rows.outputs, played)
            shown = self.levels.shown(played, self.levels.rounds)
            self._note(rows, shown)
            return ids, shown

        return self._change(call)

    def tell(self, ids: ArrayLike, y: Any) -> None:
        """Learn from the outcomes of rows that were asked."""

        def call() -> None:
            numbers, outputs, played = self.pending.find(ids)
            if len(numbers):
                self.levels.tell(numbers, played, outputs, y)
                self.pending.drop(numbers)

        self._change(call)

    def forget(self, ids: ArrayLike) -> None:
        """Stop waiting for the outcomes of rows."""

        def call() -> None:
            numbers, _, _ = self.pending.find(ids)
            self.levels.forget(numbers)
            self.pending.drop(numbers)

        self._change(call)

    def restart_units(self) -> None:
        """Prepare for another model: scores will lie elsewhere, and the promise continues."""
        self.alone(self.levels.restart_units)

    # ---- completely or not at all ------------------------------------------------------------

    def alone(self, call: Callable[[], T]) -> T:
        """Make a call, after the one that was interrupted; raise if another thread is inside."""
        if self._busy:
            raise in_use()
        self._busy = True  # no call until the next line: an interrupt comes before or after both
        try:
            if not self.levels.journal.is_empty:
                self._repair()
            return call()
        except BaseException:
            for cal in self.levels.each:
                cal._busy = False  # which an interrupt may have left; nobody else is inside
            raise
        finally:
            self._busy = False

    def _change(self, call: Callable[[], T]) -> T:
        """Make a call that may be interrupted: the next one then finishes it, if it has begun."""
        journal = self.levels.journal

        def whole() -> T:
            try:
                result = call()
            except BaseException:
                if not journal.has_begun:
                    journal.clear()
                raise
            journal.clear()
            return result

        return self.alone(whole)

    def _repair(self) -> None:
        """Finish the interrupted call, and forget rows that it asked: no ids were returned."""
        levels = self.levels
        levels.journal.finish()
        waiting = [ticket.id for cal in levels.each[:1] for ticket in cal.pending]
        self.pending.drop(np.array([*{*self.pending.rows} - {*waiting}], np.int64))
        lost = np.array([number for number in waiting if number not in self.pending.rows], np.int64)
        if len(lost):
            levels.forget(lost)
        levels.journal.clear()

    def _note(self, rows: Reading, shown: FloatArray) -> None:
        """Fix how columns become numbers, and add up the sizes of sets that were shown."""
        self.columns.features = rows.features
        if len(shown):
            sizes = self.kind.sizes(self.kind.sets(rows.outputs, shown))
            finite = np.isfinite(sizes)
            self.sizes += [finite.sum(axis=0), np.where(finite, sizes, 0.0).sum(axis=0)]

    @property
    def mean_sizes(self) -> list[float]:
        """The mean size of finite sets, per level; NaN before the first."""
        return [total / count if count else np.nan for count, total in self.sizes.T.tolist()]
