"""The rounds of a run, as measures read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localarc.curves import Curves
from localarc.validation import FloatArray


class Played(Protocol):
    """What a run did, round by round; a `Record` has all of it."""

    @property
    def losses(self) -> FloatArray:
        """Loss of each round."""

    @property
    def thresholds(self) -> FloatArray:
        """Threshold of each round."""

    @property
    def sizes(self) -> FloatArray:
        """Set size of each round."""

    @property
    def alpha(self) -> float:
        """The target."""


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
    >>> from localarc import ARC, replay
    >>> from localarc.curves import miscoverage
    >>> curves = miscoverage([0.5, 0.2, 0.1])
    >>> Rounds.of(replay(ARC(alpha=0.1), None, curves), curves, start=1).losses
    array([0., 0.])
    """

    losses: FloatArray
    thresholds: FloatArray
    sizes: FloatArray
    scores: FloatArray
    alpha: float
    bound: float

    @classmethod
    def of(cls, run: Played, curves: Curves, start: int = 0) -> Rounds:
        """Return the rounds of a run from round `start` on.

        Parameters
        ----------
        run : Record
            What the run did.
        curves : Curves
            What each round would have cost at any threshold.
        start : int, default 0
            Rounds before this one are left out.
        """
        scores = curves.min_thresholds(run.alpha)
        return cls(
            run.losses[start:],
            run.thresholds[start:],
            run.sizes[start:],
            scores[start:],
            run.alpha,
            curves.bound,
        )

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
