"""Counts: the rows that were shown, the rows of warm-ups, and the sizes of sets.

Bettors are charged for every row that is learned, at a finite threshold. But rows of a warm-up were
never shown, and an unbounded set misses nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray

_SHOWN, _LOSS, _UNBOUNDED, _WARM, _WARM_LOSS = range(5)


class Seen(NamedTuple):
    """How many rows there were, and their mean loss; NaN before the first."""

    rows: int
    risk: float


@dataclass(frozen=True)
class Counts:
    """Sums by coverage level; what counts more rows returns new ones.

    Parameters
    ----------
    sums : array of shape (5, levels)
        Rows shown, their losses and how many were unbounded; rows of warm-ups and their losses.
    sizes : array of shape (2, levels)
        How many sets shown were finite, and their sizes.
    """

    sums: FloatArray
    sizes: FloatArray

    @classmethod
    def none(cls, levels: int) -> Self:
        """No rows yet."""
        return cls(np.zeros((5, levels)), np.zeros((2, levels)))

    def show(self, sizes: FloatArray) -> Counts:
        """Add up the sizes of sets that are shown."""
        finite = np.isfinite(sizes)
        more = [finite.sum(axis=0), np.where(finite, sizes, 0.0).sum(axis=0)]
        return Counts(self.sums, self.sizes + more)

    def settle(self, losses: FloatArray, unbounded: NDArray[np.bool_]) -> Counts:
        """Count rows that were shown, by their losses (n, levels), and which were unbounded."""
        sums = self.sums.copy()
        sums[_SHOWN] += len(losses)
        sums[_LOSS] += losses.sum(axis=0)
        sums[_UNBOUNDED] += unbounded.sum(axis=0)
        return Counts(sums, self.sizes)

    def warm_up(self, losses: FloatArray) -> Counts:
        """Count rows that were never shown."""
        sums = self.sums.copy()
        sums[_WARM] += len(losses)
        sums[_WARM_LOSS] += losses.sum(axis=0)
        return Counts(sums, self.sizes)

    def shown(self, level: int) -> Seen:
        """The rows that were shown."""
        return _seen(*self.sums[[_SHOWN, _LOSS], level].tolist())

    def warm(self, level: int) -> Seen:
        """The rows of warm-ups."""
        return _seen(*self.sums[[_WARM, _WARM_LOSS], level].tolist())

    def unbounded(self, level: int) -> int:
        """How many rows were shown unbounded sets."""
        return int(self.sums[_UNBOUNDED, level])

    def mean_size(self, level: int) -> float:
        """The mean size of the finite sets shown; NaN before the first."""
        count, total = self.sizes[:, level].tolist()
        return total / count if count else math.nan


def _seen(rows: float, loss: float) -> Seen:
    return Seen(int(rows), loss / rows if rows else math.nan)
