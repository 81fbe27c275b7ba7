"""ARC and L-ARC streams: constants in one array, local parts in few."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.calibrators.adaptive_rounds import Checkpoint
from localarc.calibrators.arc import ARC
from localarc.calibrators.larc import LARC
from localarc.calibrators.tickets import Ticket
from localarc.calibrators.undo import Undo
from localarc.many.panel import adaptive_state
from localarc.many.panel.arguments import one_per_key
from localarc.many.panel.late import Answers, LateEvents
from localarc.many.panel.local.local_parts import LocalParts, local_parts
from localarc.many.panel.running_constants import RunningConstants
from localarc.many.panel.state import StoredPanel
from localarc.memory.base import Arrays
from localarc.validation import FloatArray, IntArray


class AdaptiveStreams:
    """A constant and a local part per row, with the prototype's settings."""

    def __init__(self, prototype: ARC | LARC) -> None:
        self.prototype = copy.copy(prototype).reset()
        self.settings = prototype.settings
        self.ignores_inputs = self.settings.kernel is None
        self.undo = Undo()
        self._constants = RunningConstants(self.settings)
        self._local: LocalParts | None = None  # created when the first input shows its dimension

    @property
    def dimension(self) -> int | None:
        """The number of features, once known."""
        return None if self._local is None else self._local.dimension

    # ---- the algorithm -----------------------------------------------------------------------

    def points(self, X: ArrayLike | None, count: int) -> FloatArray:
        """The inputs of that many events, as the engine requires them; without columns for ARC."""
        if self.ignores_inputs:
            return np.empty((count, 0))
        if X is None:
            raise TypeError("X must be inputs of shape (n, d), got None. Only ARC ignores inputs.")
        points = validation.points(X, self.dimension if count else None)
        return np.require(one_per_key(points, count), np.float64, ["C", "W"])

    def thresholds(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """The threshold of each event; changes nothing."""
        constants = self._constants.constants(rows)
        return constants if self._local is None else constants + self._local.evaluate(rows, points)

    def learn(
        self, rows: IntArray, points: FloatArray, losses: FloatArray, scores: ArrayLike | None
    ) -> None:
        """Learn the loss of each event, in order."""
        if scores is not None:
            kind = type(self.prototype).__name__
            raise TypeError(f"{kind} does not learn from scores. Leave them out, or use AutoLARC.")
        self._make_room(rows)
        rates = self._constants.rates(self.settings.rate, rows)
        local = self._local_for(points)
        self._about_to_change(rows, local)
        before = np.zeros(len(rows))
        if local is not None:
            before = local.learn(rows, points, rates, rates * (losses - self.settings.alpha))
        self._constants.learn(rows, rates, losses, before)

    def ask(self, rows: IntArray, points: FloatArray) -> list[Ticket]:
        """Not available."""
        raise self._no_tickets()

    def tell(
        self,
        rows: IntArray,
        tickets: Sequence[Ticket | int],
        losses: FloatArray,
        scores: ArrayLike | None,
    ) -> None:
        """Not available."""
        raise self._no_tickets()

    def _no_tickets(self) -> TypeError:
        kind = type(self.prototype).__name__
        return TypeError(
            f"a panel of {kind} has no tickets. Call update when a loss arrives, or use AutoLARC."
        )

    def serve(self, rows: IntArray, events: LateEvents) -> Answers:
        """Thresholds that go out and losses that come in, in order."""
        self._make_room(rows)
        rates = self._rates(rows, events.learns)
        local, answers = self._local_for(events.points), events.answers()
        self._about_to_change(rows, local)
        if local is None:
            self._constants.serve(rows, rates, events, answers)
        else:
            local.serve(self._constants, rows, rates, events, answers)
        return answers

    def _rates(self, rows: IntArray, learns: NDArray[np.bool_]) -> FloatArray:
        """The rate of each event that learns, 1 for the others."""
        if learns.all():
            return self._constants.rates(self.settings.rate, rows)
        rates = np.ones(len(rows))
        rates[learns] = self._constants.rates(self.settings.rate, rows[learns])
        return rates

    def _make_room(self, rows: IntArray) -> None:
        """Reserve the rows of new keys, which are invisible as yet."""
        self._constants.make_room(max(self._constants.count, int(rows.max(initial=-1)) + 1))

    def _about_to_change(self, rows: IntArray, local: LocalParts | None) -> None:
        """Note these rows as they are, and add those of new keys."""
        undo, constants, distinct = self.undo, self._constants, np.unique(rows)
        undo.note(setattr, self, "_local", self._local)
        if self._local is not None:
            self._local.note(distinct, undo)
        constants.note(distinct, undo)
        constants.count = max(constants.count, int(rows.max(initial=-1)) + 1)
        self._local = local

    def _local_for(self, points: FloatArray) -> LocalParts | None:
        """The local parts, created for these inputs if they are the first."""
        if self._local is not None or self.ignores_inputs or not len(points):
            return self._local
        kernel: Any = self.settings.kernel
        kernel.matrix(points[:1], points[:1])  # raises if kernel and input do not match
        return local_parts(self.settings, points.shape[1], {})

    # ---- single streams ----------------------------------------------------------------------

    def calibrator(self, row: int) -> ARC | LARC:
        """A separate copy of one stream's calibrator."""
        local, square = (None, 0.0) if self._local is None else self._local.copy(row)
        dimension = None if local is None else self.dimension
        alone = copy.copy(self.prototype).reset()
        alone.rollback(Checkpoint(self._constants.get(row), local, dimension, square))
        return alone

    def put(self, row: int, calibrator: ARC | LARC) -> None:
        """Replace a stream, or add one."""
        constant, local, dimension, square, _ = calibrator.checkpoint()
        parts = self._local
        if parts is None and dimension is not None:
            parts = local_parts(self.settings, dimension, {})
        rows = np.array([row])
        self._make_room(rows)
        self._about_to_change(rows, parts)
        if parts is not None:
            parts.put(row, local, square)
        self._constants.put(row, constant)

    def keep(self, rows: IntArray) -> None:
        """Drop all rows but these, which are renumbered from 0."""
        if self._local is not None:
            self._local.keep(rows, self.undo)
        constants = self._constants
        self.undo.note(setattr, self, "_constants", constants)
        self._constants = constants.kept(rows)

    # ---- all streams -------------------------------------------------------------------------

    @property
    def rounds(self) -> IntArray:
        """How many losses each stream has learned."""
        return self._constants.column("rounds").astype(np.int64)

    @property
    def risks(self) -> FloatArray:
        """The mean loss of each stream."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self._constants.column("loss_sum") / self.rounds)

    @property
    def constants(self) -> FloatArray:
        """c of each stream, which is ARC's threshold."""
        return self._constants.column("constant").copy()

    @property
    def nbytes(self) -> int:
        """The size of the learned state in bytes."""
        local = sum(int(array.nbytes) for array in self._local_arrays().values())
        return self._constants.values.nbytes + local

    def _local_arrays(self) -> Arrays:
        return {} if self._local is None else self._local.arrays()

    def arrays(self) -> Arrays:
        """Everything needed to resume, bit for bit."""
        constants = self._constants.values
        return adaptive_state.to_arrays(self.settings, constants, self._local_arrays())

    def resume(self, stored: StoredPanel) -> Self:
        """The streams that were stored; raises ValueError if they make no sense."""
        constants, local = adaptive_state.from_arrays(stored, self.settings)
        self._constants, self.undo = RunningConstants(self.settings, constants), Undo()
        dimension = stored.dimension
        self._local = None if dimension is None else local_parts(self.settings, dimension, local)
        return self
