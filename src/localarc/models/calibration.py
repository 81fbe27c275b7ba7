"""Calibration: what a Calibrated model has learned, and how rows pass through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc.calibrators.exclusive import in_use
from localarc.models.columns import Columns
from localarc.models.columns_seen import numbers_of, numeric_columns
from localarc.models.counts import Counts
from localarc.models.features import Feature
from localarc.models.journal import Change
from localarc.models.kinds.base import Outputs, SetKind
from localarc.models.kinds.labels import LabelKind
from localarc.models.levels import GroupsOfRows, Learned, Levels
from localarc.models.pending import Pending
from localarc.models.per_class import PerClass
from localarc.models.recent import Recent
from localarc.models.sample import Kept, Sample
from localarc.tables.frames import rows_of
from localarc.tables.rows import ColumnName, Table
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


class Chosen(NamedTuple):
    """What the sample keeps of rows."""

    columns: tuple[ColumnName, ...] | None  # None before the first row
    rows: IntArray
    values: NDArray[np.float32]


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
        self.counts, self.sample = Counts.none(len(coverages)), Sample(len(coverages))
        self.recent = Recent(self.levels.alphas) if isinstance(self.levels, Levels) else None

    def use(self, kind: SetKind) -> None:
        """Go on with another kind, which differs in its scale alone."""
        self.kind = self.levels.kind = kind

    def read(self, model: Any, X: Any, given: Any, *, many: bool) -> Reading:
        """Rows with the model's output; `many`: they show all categories of columns."""
        self.settle()
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

    def warm_up(self, rows: Reading, y: Any) -> None:
        """Learn in order from rows that were never shown."""

        def call() -> None:
            work = self.levels.learn(rows.points, rows.groups, rows.outputs, y)

            def end() -> list[Change]:
                learned = work.result()
                counts, recent = self.counts.warm_up(learned.losses), self._recent_with(learned)
                return [self._fix(rows), self._set(counts=counts, recent=recent)]

            self.levels.journal.run(work.steps, end)

        self._change(call)

    def learn(self, rows: Reading, y: Any) -> FloatArray:
        """Learn from rows in order; returns the thresholds that each would have been shown."""
        found: list[FloatArray] = []

        def call() -> None:
            chosen, first = self._choose(rows), self.levels.rounds
            work = self.levels.learn(rows.points, rows.groups, rows.outputs, y)

            def end() -> list[Change]:
                learned = work.result()
                order = np.arange(len(learned.played), dtype=np.int64)
                shown = self.levels.shown(learned.played, first + order)
                found[:] = [shown]
                unbounded, kept = _is_unbounded(shown), chosen.rows
                losses, references = self._known(learned, rows.outputs, unbounded, kept)
                sample, counts = self._shown(rows, shown, chosen, losses[kept], references)
                counts, recent = counts.settle(losses, unbounded), self._recent_with(learned)
                return [self._fix(rows), self._set(counts=counts, sample=sample, recent=recent)]

            self.levels.journal.run(work.steps, end)

        self._change(call)
        return found[0]

    def ask(self, rows: Reading) -> tuple[IntArray, FloatArray]:
        """Ids, and the thresholds to show, of rows whose outcome comes later.

        After an interrupt before the changes are known, the next call forgets the rows.
        """

        def call() -> tuple[IntArray, FloatArray]:
            chosen, pending = self._choose(rows), self.pending
            work = self.levels.ask(rows.points, rows.groups, rows.outputs)
            self.levels.journal.run(work.steps)
            ids, played = work.result()
            shown = self.levels.shown(played, self.levels.rounds)
            unknown = np.full((len(chosen.rows), shown.shape[1]), np.nan)
            sample, counts = self._shown(rows, shown, chosen, unknown, unknown)
            numbers = self.sample.seen + chosen.rows
            sampled = dict(zip(ids[chosen.rows].tolist(), numbers.tolist(), strict=True))
            waiting = pending.remembered(ids, rows.outputs, played)
            self.levels.journal.conclude(
                [
                    partial(pending.rows.update, waiting),
                    partial(pending.note, ids, _is_unbounded(shown), sampled),
                    self._fix(rows),
                    self._set(counts=counts, sample=sample),
                ]
            )
            return ids, shown

        return self._change(call)

    def tell(self, ids: ArrayLike, y: Any) -> None:
        """Learn from the outcomes of rows that were asked."""

        def call() -> None:
            numbers, outputs, played = self.pending.find(ids)
            if not len(numbers):
                return
            work = self.levels.tell(numbers, played, outputs, y)

            def end() -> list[Change]:
                learned = work.result()
                unbounded, kept, places = self.pending.notes(numbers, learned.losses)
                losses, references = self._known(learned, outputs, unbounded, kept)
                sample = self.sample.settle(places, losses[kept], references)
                counts, recent = self.counts.settle(losses, unbounded), self._recent_with(learned)
                beside = self._set(counts=counts, sample=sample, recent=recent)
                return [beside, partial(self.pending.drop, numbers)]

            self.levels.journal.run(work.steps, end)

        self._change(call)

    def forget(self, ids: ArrayLike) -> None:
        """Stop waiting for the outcomes of rows."""

        def call() -> None:
            numbers, _, _ = self.pending.find(ids)
            drop = partial(self.pending.drop, numbers)
            self.levels.journal.run(self.levels.forget(numbers), lambda: [drop])

        self._change(call)

    def restart_units(self) -> None:
        """Prepare for another model: scores will lie elsewhere, and the promise continues."""

        def call() -> None:
            self.levels.restart_units()
            if self.recent is not None:
                self.recent.clear()

        self.alone(call)

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
        finally:
            self._busy = False

    def settle(self) -> None:
        """Finish the call that was interrupted, which may fix what columns mean."""
        self.alone(lambda: None)

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
        lost = np.array([number for number in waiting if number not in self.pending.rows], np.int64)
        if len(lost):
            levels.journal.run(levels.forget(lost))
        levels.journal.clear()

    def __getstate__(self) -> dict[str, Any]:
        return self.alone(lambda: vars(self) | {"_busy": False})  # a copy cannot finish our call

    # ---- what was shown: found by a call, then changed ---------------------------------------

    def _choose(self, rows: Reading) -> Chosen:
        """What the sample keeps of rows; read before anything changes."""
        count, columns = len(rows.outputs), self.sample.columns
        if columns is None and count:
            columns = numeric_columns(rows.table)
        kept = self.sample.choose(count)
        return Chosen(columns, kept, numbers_of(rows.table, columns or (), kept))

    def _shown(
        self,
        rows: Reading,
        shown: FloatArray,
        chosen: Chosen,
        losses: FloatArray,
        references: FloatArray,
    ) -> tuple[Sample, Counts]:
        """The sample and the counts with sets that are shown."""
        sizes = self.kind.sizes(self.kind.sets(rows.outputs, shown))
        bounded = np.where(_is_unbounded(shown), np.nan, sizes)[chosen.rows]
        numbers = self.sample.seen + chosen.rows
        new = Kept(numbers, chosen.values, losses, bounded, references)
        return self.sample.add(len(shown), chosen.columns, new), self.counts.show(sizes)

    def _known(
        self, learned: Learned, outputs: Outputs, unbounded: NDArray[np.bool_], kept: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """The losses of rows shown, and the reference sizes of those that the sample keeps."""
        losses = np.where(unbounded, 0.0, learned.losses)
        if self.recent is None or learned.scores is None:
            return losses, np.full(losses[kept].shape, np.nan)
        return losses, self.recent.sizes(self.kind, outputs, learned.scores, kept)

    def _recent_with(self, learned: Learned) -> Recent | None:
        if self.recent is None or learned.scores is None:
            return self.recent
        return self.recent.add(learned.scores)

    def _set(self, **parts: Any) -> Change:
        return partial(vars(self).update, parts)

    def _fix(self, rows: Reading) -> Change:
        return partial(setattr, self.columns, "features", rows.features)


def _is_unbounded(shown: FloatArray) -> NDArray[np.bool_]:
    """(n, levels): where sets have everything."""
    return np.asarray(np.isposinf(shown).any(axis=2))
