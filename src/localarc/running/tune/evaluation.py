"""Evaluation: how a calibrator performed in some rounds, online."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.health import PromiseWarning
from localarc.curves import Curves
from localarc.guarantees.assumptions import AssumptionWarning
from localarc.kernels import Kernel
from localarc.measures import PINBALL, RISK, SIZE, worst_neighbourhood
from localarc.measures.text import plus_minus
from localarc.running.replay import replay
from localarc.validation import FloatArray

_CHANCE = 2.0
"""Standard errors that chance explains in one neighbourhood, as `worst_neighbourhood` ranks."""

_CHANCE_AMONG_MANY = 3.0
"""Standard errors that chance explains in the worst of many neighbourhoods."""


@dataclass(frozen=True)
class Evaluation:
    """How a calibrator performed in some rounds, online.

    Parameters
    ----------
    rounds : int
        The number of rounds.
    risk : float
        The mean loss.
    worst, worst_error : float
        The risk of the worst neighbourhood, and its standard error as if rounds were independent.
    size : float
        The mean set size, NaN if unknown.
    pinball : float
        The mean pinball loss of the thresholds as estimates of the scores' quantile, NaN if no
        score is finite. Its unit is that of the scores, and lower is better.
    alpha : float
        The target.

    Examples
    --------
    >>> found = Evaluation(100, 0.1, 0.2, 0.02, 1.5, 0.3, 0.1)
    >>> round(found.excess, 9), found.meets_target
    (0.06, False)

    References
    ----------
    Koenker and Bassett, "Regression Quantiles", Econometrica 46(1), 1978: the pinball loss.
    """

    rounds: int
    risk: float
    worst: float
    worst_error: float
    size: float
    pinball: float
    alpha: float

    @property
    def excess(self) -> float:
        """How far the worst neighbourhood is above the target beyond two standard errors, or 0."""
        return max(0.0, self.worst - _CHANCE * self.error - self.alpha)

    @property
    def meets_target(self) -> bool:
        """Whether the worst neighbourhood is within three standard errors of the target, or below.

        Of many neighbourhoods, chance alone puts some two standard errors above it.
        """
        return self.worst - _CHANCE_AMONG_MANY * self.error <= self.alpha

    def __str__(self) -> str:
        worst = plus_minus(self.worst, self.worst_error)
        return (
            f"risk {RISK.text(self.risk)}, target {self.alpha:g}, worst neighbourhood {worst}, "
            f"mean size {SIZE.text(self.size)}"
        )

    @property
    def error(self) -> float:
        """The standard error of the worst neighbourhood, 0 if it is unknown."""
        return self.worst_error if math.isfinite(self.worst_error) else 0.0


def evaluate(
    candidate: BaseCalibrator,
    X: FloatArray,
    curves: Curves,
    neighbourhoods: Sequence[Kernel],
    start: int,
) -> Evaluation:
    """Run a copy of the candidate from the first round, and evaluate from round `start` on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssumptionWarning)  # about the stream, not the candidate
        warnings.simplefilter("ignore", PromiseWarning)  # candidates may fail: that is the test
        record = replay(copy.deepcopy(candidate), X, curves)
    losses, alpha = record.losses[start:], candidate.alpha
    places = [worst_neighbourhood(X[start:], losses, each) for each in neighbourhoods]
    worst = max(places, key=lambda place: place.risk - _CHANCE * place.standard_error)
    rounds = record.rounds_of(curves, start)
    return Evaluation(
        rounds=len(losses),
        risk=RISK.of(rounds),
        worst=worst.risk,
        worst_error=worst.standard_error,
        size=SIZE.of(rounds),
        pinball=PINBALL.of(rounds),
        alpha=alpha,
    )
