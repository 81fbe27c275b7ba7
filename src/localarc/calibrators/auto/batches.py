"""Batches: validated inputs and groups of many rounds, as the engine reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from localarc.calibrators.auto.groups import Groups
from localarc.validation import FloatArray, IntArray


class Batch(NamedTuple):
    """Validated inputs and groups of n rounds."""

    points: FloatArray  # (n, d)
    groups: list[Groups] | None  # as given
    keys: IntArray  # (n, g): of the groups
    weights: FloatArray
    combinations: list[tuple[Any, ...]]  # of groups and missing features, to be remembered

    @property
    def where(self) -> tuple[FloatArray, IntArray, FloatArray]:
        """What the engine reads."""
        return self.points, self.keys, self.weights


def miscoverage(scores: FloatArray, bound: float) -> tuple[FloatArray, FloatArray, IntArray]:
    """Step curves: the bound below a score, 0 from it on."""
    count = len(scores)
    breakpoints = np.column_stack([np.full(count, -np.inf), scores]).ravel()
    return breakpoints, np.tile([bound, 0.0], count), np.arange(0, 2 * count + 1, 2)


def writable(array: FloatArray) -> FloatArray:
    """The array as the engine reads it, copied where it has to be."""
    return np.require(array, np.float64, ["C", "W"])
