"""Local parts: f of every L-ARC stream of a panel, in one pool where the engine can keep one."""

from __future__ import annotations

from typing import Any, Protocol

from localarc.calibrators.settings import Settings
from localarc.memory.base import Arrays, Expansion
from localarc.panel.per_key import Expansions
from localarc.panel.pooled import Terms, fits
from localarc.panel.running_constants import Traces
from localarc.validation import FloatArray, IntArray


class LocalParts(Protocol):
    """f of each row; a row without one has f = 0. Calls that learn do so wholly or not at all."""

    dimension: int

    def evaluate(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """f, clipped, at each point, for the row it belongs to; 0 for a row of -1."""

    def learn(
        self, rows: IntArray, points: FloatArray, rates: FloatArray, pushes: FloatArray
    ) -> None:
        """Eq. (kernel_update) for each event, in order."""

    def play(
        self, traces: Traces, rows: IntArray, points: FloatArray, rates: FloatArray, curves: Any
    ) -> tuple[FloatArray, FloatArray]:
        """Threshold, loss and update, also of the traces, for each event, in order."""

    def copy(self, row: int) -> tuple[Expansion | None, float]:
        """An expansion of its own for somebody else, and |f|^2 where a radius bounds it."""

    def put(self, row: int, local: Expansion | None, square: float) -> None:
        """Take over an expansion."""

    def keep(self, rows: IntArray) -> None:
        """Forget all rows but these, which move together."""

    def arrays(self) -> dict[str, Any]:
        """All that is needed to go on, bit for bit."""


def local_parts(settings: Settings, dimension: int, arrays: Arrays) -> LocalParts:
    """As terms in one pool where streams keep all or the latest of them, as objects elsewhere."""
    make = Terms if fits(settings, dimension) else Expansions
    return make(settings, dimension, arrays)
