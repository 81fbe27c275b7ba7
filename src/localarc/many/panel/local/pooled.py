"""Pooled local parts: the terms of all L-ARC streams of a panel in one compiled pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.adaptive.settings import Settings
from localarc.calibrators.undo import Undo
from localarc.kernels import Stationary
from localarc.many.panel.late import Answers, LateEvents
from localarc.many.panel.local.ragged import SHAPE
from localarc.many.panel.running_constants import RunningConstants
from localarc.memory import KeepAll, KeepLast
from localarc.memory.base import Arrays, Expansion
from localarc.memory.compiled_expansion import profile, roots
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from localarc.engine.keyed.expansion import KeyedExpansions


def can_pool(settings: Settings, dimension: int) -> bool:
    """Whether the streams keep terms of a kernel that the engine compiles, and nothing else."""
    kernel: Any = settings.kernel
    memory = settings.memory.chosen(kernel, dimension)
    return (
        isinstance(kernel, Stationary)
        and type(memory) in (KeepAll, KeepLast)
        and settings.radius is None  # |f|^2 is computed in Python
        and profile(kernel, dimension) is not None
    )


class PooledTerms:
    """f of each row; a row without one has f = 0."""

    def __init__(self, settings: Settings, dimension: int, arrays: Arrays) -> None:
        from localarc.engine.keyed.expansion import PARTS

        kernel: Any = settings.kernel
        self._settings = settings
        self.dimension = dimension
        self._roots = roots(kernel, dimension)
        self._clip = np.inf if settings.clip is None else settings.clip
        self._pool = self._empty_pool()
        if "rows" in arrays and len(arrays["rows"]):
            counts = arrays[PARTS[1] + SHAPE][:, 0]
            self._pool.put(np.array(arrays["rows"]), np.array(counts), arrays)

    def _empty_pool(self) -> KeyedExpansions:
        from localarc.engine.keyed.expansion import KeyedExpansions

        kernel: Any = self._settings.kernel
        formula: Any = profile(kernel, self.dimension)
        memory = self._settings.memory.chosen(kernel, self.dimension)
        rules = kernel.scale, memory.window, memory.averages
        return KeyedExpansions(formula, self.dimension, *rules)

    def evaluate(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """f, clipped, at each point, for the row it belongs to."""
        return self._pool.evaluate(rows, points / self._roots, self._clip)

    def learn(
        self, rows: IntArray, points: FloatArray, rates: FloatArray, pushes: FloatArray
    ) -> FloatArray:
        """Apply eq. (kernel_update) to each event, in order; f at each before that, if watched."""
        self._pool.make_room(
            int(rows.max(initial=-1)) + 1, len(rows)
        )  # before anything changes: it may raise
        scaled, decays, before = (
            points / self._roots,
            self._decays(rates),
            np.full(len(rows), np.nan),
        )
        if self._settings.score_range is None:
            self._pool.learn(rows, scaled, decays, pushes)
            return before
        for wave in _waves(rows):
            before[wave] = self.evaluate(rows[wave], points[wave])
            self._pool.learn(rows[wave], scaled[wave], decays[wave], pushes[wave])
        return before

    def serve(
        self,
        constants: RunningConstants,
        rows: IntArray,
        rates: FloatArray,
        events: LateEvents,
        answers: Answers,
    ) -> None:
        """Thresholds that go out and losses that come in, in order."""
        self._pool.make_room(int(rows.max(initial=-1)) + 1, int(events.learns.sum()))
        scaled, decays = events.points / self._roots, self._decays(rates)
        acts, limits, steps = events.acts, constants.limits, events.steps()
        self._pool.serve(
            constants.all_rows, rows, scaled, acts, events.asked, rates, decays, limits, self._clip,
            steps, answers.arrays,
        )  # fmt: skip

    def _decays(self, rates: FloatArray) -> FloatArray:
        return 1.0 - rates * self._settings.regularization

    def copy(self, row: int) -> tuple[Expansion | None, float]:
        """A separate copy of the expansion; without a radius, |f|^2 is not computed."""
        if row not in self._pool:
            return None, 0.0
        _, arrays = self._pool.get(np.array([row]))
        kernel: Any = self._settings.kernel
        empty = self._settings.memory.expansion(kernel, self.dimension)
        scalars = {name: arrays[name][0] for name in ("first", "rounds", "fade", "clock")}
        return empty.restore(arrays | scalars), 0.0

    def put(self, row: int, local: Expansion | None, square: float) -> None:
        """Replace the expansion of a row."""
        if local is None:
            self._pool.clear(row)
            return
        arrays = local.arrays()
        scalars = {
            name: np.atleast_1d(arrays[name]) for name in ("first", "rounds", "fade", "clock")
        }
        counts = np.array([len(arrays["weights"])])
        self._pool.put(np.array([row]), counts, {**arrays, **scalars})

    def note(self, rows: IntArray, undo: Undo) -> None:
        """These distinct rows are about to change."""
        known = np.array([row for row in rows.tolist() if row in self._pool], np.int64)
        undo.note(self._put_back, rows, known, *self._pool.get(known))

    def _put_back(
        self, rows: IntArray, known: IntArray, counts: IntArray, arrays: dict[str, Any]
    ) -> None:
        for row in rows.tolist():
            self._pool.clear(row)
        if len(known):
            self._pool.put(known, counts, arrays)

    def keep(self, rows: IntArray, undo: Undo) -> None:
        """Drop all rows but these, which are renumbered from 0."""
        known = self._pool.rows()
        undo.note(self._put_back_all, known, *self._pool.get(known))
        self._pool.keep(rows)

    def _put_back_all(self, known: IntArray, counts: IntArray, arrays: dict[str, Any]) -> None:
        """Fill an empty pool, which replaces the one of now."""
        pool = self._empty_pool()
        if len(known):
            pool.put(known, counts, arrays)
        self._pool = pool

    def arrays(self) -> dict[str, Any]:
        """Everything needed to resume, bit for bit, in the layout of `ragged.pack`."""
        rows = self._pool.rows()
        counts, found = self._pool.get(rows)
        shapes = {"centres": np.column_stack([counts, np.full(len(rows), self.dimension)])}
        shapes |= dict.fromkeys(("weights", "joined", "folded"), counts[:, None])
        none = np.zeros((len(rows), 0), np.int64)
        packed = {name: np.ascontiguousarray(array.ravel()) for name, array in found.items()}
        packed |= {name + SHAPE: shapes.get(name, none) for name in found}
        return packed | {"rows": rows, "squares": np.zeros(len(rows))} if len(rows) else {}


def _waves(rows: IntArray) -> Iterator[IntArray]:
    """The first event of each row, then the second of each, and so on."""
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    lengths = np.diff(starts, append=len(rows))
    position = np.arange(len(rows)) - np.repeat(starts, lengths)
    for number in range(int(lengths.max(initial=0))):
        yield np.sort(order[position == number])
