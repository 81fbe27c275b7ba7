"""Block bootstrap: confidence intervals of means when rounds are correlated in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.validation import FloatArray


@dataclass(frozen=True)
class Estimate:
    """A mean with a confidence interval.

    Parameters
    ----------
    value : float
        The mean.
    low, high : float
        Ends of the confidence interval.

    Examples
    --------
    >>> Estimate(value=0.5, low=0.4, high=0.6).high
    0.6
    """

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
    """Return the mean of `values` with a confidence interval, resampling whole blocks.

    Rounds of the same block may depend on each other; blocks, such as weeks, should not. To compare
    two methods, pass the differences of their losses per round, so that what they have in common
    cancels.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Values, such as losses.
    blocks : array_like, shape (n,)
        Block of each value; any labels.
    draws : int, default 1000
        Number of resamples.
    confidence : float, default 0.95
        Confidence level, between 0 and 1.
    seed : int, default 0
        Seed of the resampling.

    Returns
    -------
    Estimate
        The mean and the percentile interval.

    Examples
    --------
    >>> block_bootstrap([0.0, 0.0, 1.0, 1.0], blocks=[1, 1, 2, 2])
    Estimate(value=0.5, low=0.0, high=1.0)

    References
    ----------
    Künsch, "The Jackknife and the Bootstrap for General Stationary Observations", Annals of
    Statistics 17(3), 1989.
    """
    array = validation.numbers("values", values).reshape(-1)
    validation.require_unmasked("blocks", blocks)
    labels = np.asarray(blocks).reshape(-1)
    if len(labels) != len(array) or len(array) == 0:
        raise ValueError(
            f"blocks must have one label per value, and at least one value is required, got "
            f"{len(labels)} labels for {len(array)} values."
        )
    validation.integer("draws", draws, 1, "It is the number of resamples.")
    level = validation.positive("confidence", confidence, "It is a fraction, e.g. 0.95.")
    if level >= 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {level}. Use 0.95 for 95 %.")
    sums, counts = _by_block(array, labels)
    means = _resampled_means(sums, counts, draws, seed)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Estimate(float(array.mean()), float(low), float(high))


def _by_block(values: FloatArray, labels: NDArray[np.generic]) -> tuple[FloatArray, FloatArray]:
    """Return the sum and the number of values per block, which determine a resampled mean."""
    _, block = np.unique(labels, return_inverse=True)
    sums = np.asarray(np.bincount(block, values), dtype=np.float64)
    return sums, np.bincount(block).astype(np.float64)


def _resampled_means(sums: FloatArray, counts: FloatArray, draws: int, seed: int) -> FloatArray:
    """Return the mean of each resample."""
    number = len(sums)
    # How often each block is drawn, for all draws at once: (draws, blocks).
    times = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), draws)
    return np.asarray((times @ sums) / (times @ counts))
