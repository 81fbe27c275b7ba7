"""SetKind: what a set is made of a model's output, and how a true outcome is scored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.curves import Curves
from localarc.validation import FloatArray

Outputs = NDArray[Any]
"""What the model said of n rows, one entry per row; all that scores and sets depend on."""


class SetKind(ABC):
    """A kind of prediction set: intervals, labels, masks or rankings.

    Each coverage level has one threshold per tail, and the accepted share of misses is divided
    between the tails.
    """

    tails: tuple[str, ...] = ("",)
    full: float = float("inf")  # a threshold at which a set has everything
    counts_misses: bool = True  # whether a loss is 0 or 1

    @abstractmethod
    def outputs(self, model: Any, X: Any, given: Any) -> Outputs:
        """The model's output for each row; `given` are predictions made elsewhere."""

    def nothing(self) -> Any:
        """The prediction of no rows."""
        return np.empty(0)

    @abstractmethod
    def place(self, outputs: Outputs) -> FloatArray:
        """(n, 1) where a row is, as far as the model's output shows."""

    @abstractmethod
    def curves(self, outputs: Outputs, y: Any) -> tuple[Curves, ...]:
        """Loss against threshold for each row, one entry per tail."""

    @abstractmethod
    def sets(self, outputs: Outputs, thresholds: FloatArray) -> Any:
        """The sets at thresholds of shape (n, levels, tails), as the rows were."""

    @abstractmethod
    def sizes(self, sets: Any) -> FloatArray:
        """(n, levels) sizes."""
