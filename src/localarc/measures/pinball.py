"""Pinball loss: how far thresholds are from a quantile of the scores, in units of the scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation


def pinball_loss(scores: ArrayLike, thresholds: ArrayLike, alpha: float) -> float:
    """Return the mean loss that the (1 - alpha)-quantile of the scores minimizes.

    Rounds without a finite score are left out: no threshold is too high or too low for them; and
    those with an infinite threshold, which went out before anything was known.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Score of each round.
    thresholds : array_like of float, shape (n,)
        Threshold of each round.
    alpha : float
        Share of the scores that may be above their thresholds, in (0, 1).

    Returns
    -------
    float
        The loss, in units of the scores; NaN without rounds that count.

    Examples
    --------
    >>> pinball_loss([1.0, 3.0, np.inf], [2.0, 2.0, 2.0], alpha=0.25)
    0.5

    References
    ----------
    Koenker and Bassett, "Regression Quantiles", Econometrica 46(1), 1978.
    """
    reached = validation.floats("scores", scores)
    allowed = validation.floats("thresholds", thresholds)
    if reached.shape != allowed.shape:
        raise ValueError(
            f"thresholds must be one per score, got shape {allowed.shape} for {reached.shape}."
        )
    known = np.isfinite(reached) & np.isfinite(allowed)
    if not known.any():
        return math.nan
    short = reached[known] - allowed[known]
    return float(np.maximum((1.0 - alpha) * short, -alpha * short).mean())
