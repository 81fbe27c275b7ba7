"""Block bootstrap: how sure is a mean, or a difference of means, when rounds come in runs?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.validation import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A mean with an interval that holds it with the stated confidence."""

    value: float
    low: float
    high: float


def block_bootstrap(
    values: ArrayLike,
    blocks: ArrayLike,
    *,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The mean of `values`, redrawing whole blocks (such as weeks) with replacement.

    For a difference of two methods, pass the differences of their losses round by round: what
    both have in common then cancels. Rounds within a block may depend on each other.

    >>> block_bootstrap([0.0, 0.0, 1.0, 1.0], blocks=[1, 1, 2, 2])
    Estimate(value=0.5, low=0.0, high=1.0)
    """
    array = validation.numbers("values", values).reshape(-1)
    labels = np.asarray(blocks).reshape(-1)
    if len(labels) != len(array) or len(array) == 0:
        raise ValueError(
            f"blocks must hold one label per value, and there must be one at least, "
            f"got {len(labels)} for {len(array)}."
        )
    validation.integer("draws", draws, 1, "It is the number of times that blocks are redrawn.")
    share = validation.positive("confidence", confidence, "It is a share, e.g. 0.95.")
    if share >= 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {share}. Use 0.95 for 95 %.")
    sums, counts = _by_block(array, labels)
    means = _redrawn_means(sums, counts, draws, seed)
    tail = (1.0 - share) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Estimate(float(array.mean()), float(low), float(high))


def _by_block(values: FloatArray, labels: NDArray[np.generic]) -> tuple[FloatArray, FloatArray]:
    """The sum and the number of values in each block: all that a redrawn mean depends on."""
    _, block = np.unique(labels, return_inverse=True)
    sums = np.asarray(np.bincount(block, values), dtype=np.float64)
    return sums, np.bincount(block).astype(np.float64)


def _redrawn_means(sums: FloatArray, counts: FloatArray, draws: int, seed: int) -> FloatArray:
    number = len(sums)
    # How often each block is drawn, for all draws at once: (draws, blocks).
    times = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), draws)
    return np.asarray((times @ sums) / (times @ counts))
