"""AgACI: thresholds of ACI with many step sizes, aggregated as expert forecasts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.aci import WINDOW_HINT
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.boa import BernsteinAggregation
from localarc_lab.peers.dtaci import checked_gammas
from localarc_lab.peers.score_window import ScoreWindow, linear

GAMMAS = (
    *(0.0, 5e-6, 5e-5),
    *(digit * unit for unit in (1e-4, 1e-3, 1e-2) for digit in range(1, 10)),
)
"""The paper's 30 candidate steps, 0 to 0.09."""


class AgACI(Peer):
    """Aggregated ACI: an expert for each step size, mixed by Bernstein online aggregation.

    Every expert is an `ACI` with a step of its own. The threshold is the weighted mean of their
    thresholds, with weights that follow the gradients of the pinball loss.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    gammas : sequence of float, default 0, 0.000005, 0.00005, 0.0001, ..., 0.09
        The steps.
    window : int, default 1250
        Number of recent scores.
    loss_bound : float, default 1.0
        The largest possible loss. Experts learn from scores: a round is a miss if its loss would
        have exceeded alpha.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = AgACI(alpha=0.1)
    >>> for score in (0.3, 0.1, 0.2):
    ...     _ = cal.update(None, loss=float(score > cal.threshold(None)), score=score)
    >>> 0.2 < cal.threshold(None) <= 0.3
    True

    References
    ----------
    Zaffran, Feron, Goude, Josse and Dieuleveut, "Adaptive Conformal Predictions for Time Series",
    ICML 2022, with the aggregation of the R package opera. The paper aggregates both ends of an
    interval; here there is one threshold, hence one aggregation, at the quantile 1 - alpha.
    """

    def __init__(
        self,
        alpha: float,
        gammas: Sequence[float] = GAMMAS,
        window: int = 1250,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.gammas = checked_gammas(gammas)
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self._steps = np.array(self.gammas)
        self._levels = np.full(len(self.gammas), self._target)
        self._experts = BernsteinAggregation(len(self.gammas))
        self._scores = ScoreWindow(self.window, self.initial_threshold)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return float(self._experts.weights @ self._thresholds())

    def _thresholds(self) -> FloatArray:
        """The thresholds of the experts."""
        return np.array([self._scores.threshold(a, linear) for a in self._levels.tolist()])

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        thresholds = self._thresholds()
        mixture = float(self._experts.weights @ thresholds)
        gradient = (score < mixture) - (1.0 - self._target)  # of the pinball loss, at the mixture
        self._experts.learn(gradient * (mixture - thresholds))
        self._levels = self._levels + self._steps * (self._target - (score > thresholds))
        self._scores.add(score)
