"""Local parts: f of every L-ARC stream of a panel, pooled where the engine supports it."""

from __future__ import annotations

from typing import Any, Protocol

from localarc.adaptive.settings import Settings
from localarc.calibrators.undo import Undo
from localarc.many.panel.late import Answers, LateEvents
from localarc.many.panel.local.per_key import PerKeyExpansions
from localarc.many.panel.local.pooled import PooledTerms, can_pool
from localarc.many.panel.running_constants import RunningConstants
from localarc.memory.base import Arrays, Expansion
from localarc.validation import FloatArray, IntArray


class LocalParts(Protocol):
    """f of each row; a row without one has f = 0. Before calls that learn, rows are noted."""

    dimension: int

    def evaluate(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """f, clipped, at each point, for the row it belongs to; 0 for a row of -1."""

    def learn(
        self, rows: IntArray, points: FloatArray, rates: FloatArray, pushes: FloatArray
    ) -> FloatArray:
        """Apply eq. (kernel_update) to each event, in order; f, clipped, at each before that.

        f is returned where a stated score range is to be watched, and is NaN otherwise.
        """

    def serve(
        self,
        constants: RunningConstants,
        rows: IntArray,
        rates: FloatArray,
        events: LateEvents,
        answers: Answers,
    ) -> None:
        """Thresholds that go out and losses that come in, of the constants too, in order."""

    def copy(self, row: int) -> tuple[Expansion | None, float]:
        """A separate copy of the expansion, and |f|^2 where a radius bounds it."""

    def put(self, row: int, local: Expansion | None, square: float) -> None:
        """Replace the expansion of a row."""

    def note(self, rows: IntArray, undo: Undo) -> None:
        """These distinct rows are about to change."""

    def keep(self, rows: IntArray, undo: Undo) -> None:
        """Drop all rows but these, which are renumbered from 0."""

    def arrays(self) -> dict[str, Any]:
        """Everything needed to resume, bit for bit."""


def local_parts(settings: Settings, dimension: int, arrays: Arrays) -> LocalParts:
    """Pooled where streams keep all terms or the latest ones, otherwise one object per key."""
    make = PooledTerms if can_pool(settings, dimension) else PerKeyExpansions
    return make(settings, dimension, arrays)
