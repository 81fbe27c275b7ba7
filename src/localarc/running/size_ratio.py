"""Size ratio: how large sets are beside those of a rolling quantile of the same scores.

Misses can be right and sets useless: a value such as -9999 among the outcomes inflates the unit of
a method that follows means, and thresholds then swing between far too low and far too high.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc.curves import Curves
from localarc.validation import FloatArray

WINDOW = 500
"""Scores of which a rolling quantile is taken."""

_BLOCK = 25  # rounds that share a quantile, or more in a long stream
_MOST_BLOCKS = 2000
_TRIMMED = 0.05  # the largest sets of either method say little about the others
_LEAST_ROUNDS = 100


@dataclass(frozen=True)
class Reference:
    """The thresholds of a rolling quantile, and the sizes of their sets.

    Parameters
    ----------
    low, high : array of float, shape (n,)
        Quantiles of the latest scores before each round: at the level, and at half of it.
    sizes : array of float, shape (n,)
        Set sizes at `high`; NaN where they are unknown.

    Examples
    --------
    >>> from localarc.curves import miscoverage
    >>> scores = np.tile([0.0, 1.0, 2.0, 3.0], 100)
    >>> reference = Reference.of_curves(miscoverage(scores, widths=0.0), 0.25)
    >>> round(reference.ratio(np.full(400, 6.0), np.full(400, 12.0)), 1)
    2.2
    """

    low: FloatArray
    high: FloatArray
    sizes: FloatArray

    @classmethod
    def of_curves(cls, curves: Curves, alpha: float) -> Reference:
        """The reference of a stream whose curves are known."""
        low, high = rolling_quantiles(curves.min_thresholds(alpha), 1.0 - alpha / curves.bound)
        finite = np.isfinite(high)
        sizes = curves.sizes_at(np.where(finite, high, 0.0))
        return cls(low, high, np.where(finite, sizes, np.nan))

    @classmethod
    def of_scores(cls, scores: FloatArray, alpha: float, loss_bound: float = 1.0) -> Reference:
        """The reference of scores alone: sizes are unknown."""
        low, high = rolling_quantiles(scores, 1.0 - alpha / loss_bound)
        return cls(low, high, np.full(len(scores), np.nan))

    def ratio(self, thresholds: FloatArray, sizes: FloatArray) -> float:
        """How many times as large sets are as those of the quantile; NaN if that is unknown.

        Where sizes are unknown, thresholds are measured from the lower quantile, so that neither
        the origin of scores nor their unit matters.
        """
        if not np.isnan(sizes).all():
            return ratio_of_means(sizes, self.sizes)
        known = np.isfinite(thresholds) & np.isfinite(self.low) & np.isfinite(self.high)
        low, high, played = self.low[known], self.high[known], thresholds[known]
        apart = high > low
        if 2 * apart.sum() < len(apart):  # most scores are equal: they have no unit
            return math.nan
        return ratio_of_means((played - low)[apart], (high - low)[apart])


def ratio_of_means(sizes: FloatArray, reference: FloatArray) -> float:
    """The ratio of two trimmed means, over rounds in which both are finite; NaN with too few."""
    known = np.isfinite(sizes) & np.isfinite(reference)
    if known.sum() < _LEAST_ROUNDS:
        return math.nan
    below = _trimmed_mean(reference[known])
    return _trimmed_mean(sizes[known]) / below if below > 0.0 else math.nan


def _trimmed_mean(values: FloatArray) -> float:
    """The mean without the largest twentieth."""
    kept = len(values) - math.floor(_TRIMMED * len(values))
    return float(np.partition(values, kept - 1)[:kept].mean())


def rolling_quantiles(
    scores: FloatArray, level: float, earlier: ArrayLike = ()
) -> tuple[FloatArray, FloatArray]:
    """Quantiles of the latest scores before each round, at half of a level and at the level.

    `earlier` are scores from before the first round.
    """
    before = np.asarray(earlier, np.float64)
    joined = np.concatenate([before, scores])
    found = np.empty((2, len(scores)))
    block = max(_BLOCK, math.ceil(len(scores) / _MOST_BLOCKS))
    for start in range(0, len(scores), block):
        end = len(before) + start
        latest = joined[max(0, end - WINDOW) : end]
        found[:, start : start + block] = conformal_quantiles(latest, level)[:, None]
    return found[0], found[1]


def conformal_quantiles(scores: FloatArray, level: float) -> NDArray[np.float64]:
    """Two quantiles of split conformal prediction: at half of a level and at the level."""
    ranks = [math.ceil((len(scores) + 1) * part - 1e-9) for part in (0.5 * level, level)]
    if ranks[1] > len(scores):
        return np.full(2, np.inf)
    places = [max(rank, 1) - 1 for rank in ranks]
    return np.partition(scores, places)[places]
