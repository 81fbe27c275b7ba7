"""The rounds of a run, as measures read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc.curves import Curves
from localarc.validation import FloatArray


@dataclass(frozen=True, eq=False)
class Rounds:
    """The rounds of a run, and what their losses could have been.

    Parameters
    ----------
    losses, thresholds, sizes : array of float, shape (n,)
        What the run did; sizes are NaN where unknown.
    scores : array of float, shape (n,)
        The smallest threshold of each round whose loss is at most the target.
    alpha : float
        The target.
    bound : float
        The largest possible loss.

    Examples
    --------
    >>> from localarc.curves import miscoverage
    >>> Rounds.at(0.3, miscoverage([0.5, 0.2, 0.1]), alpha=0.1).losses
    array([1., 0., 0.])
    """

    losses: FloatArray
    thresholds: FloatArray
    sizes: FloatArray
    scores: FloatArray
    alpha: float
    bound: float

    @classmethod
    def at(cls, threshold: float, curves: Curves, alpha: float) -> Rounds:
        """Return the rounds of one constant threshold.

        Parameters
        ----------
        threshold : float
            The threshold of every round.
        curves : Curves
            What each round would have cost at any threshold.
        alpha : float
            The target.
        """
        everywhere = np.full(len(curves), threshold)
        losses, sizes = curves.losses_at(everywhere), curves.sizes_at(everywhere)
        return cls(losses, everywhere, sizes, curves.min_thresholds(alpha), alpha, curves.bound)
