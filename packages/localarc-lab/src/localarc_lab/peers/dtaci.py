"""DtACI: several step sizes of ACI at once, weighted by how well their levels did."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.aci import GAMMA_HINT, WINDOW_HINT
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.score_window import ScoreWindow, linear

GAMMAS = tuple(0.001 * 2**k for k in range(8))
"""The paper's candidate steps, 0.001 to 0.128."""


class DtACI(Peer):
    """Dynamically-tuned ACI: levels with several steps, mixed by exponential weights.

    Each step gamma_i has a level `a_i`, updated as in `ACI`. Let b_t be the share of the latest
    scores that are at least as large as the new one. Weights are multiplied by
    `exp(-eta loss(b_t, a_i))` with the pinball loss at alpha, and a part sigma of them is shared.
    The threshold is the quantile of the latest scores at one minus the weighted mean of the levels.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    gammas : sequence of float, default 0.001, 0.002, ..., 0.128
        The steps.
    interval : int, default 500
        Length of the time intervals in which regret is to be small; it sets eta and sigma as in
        the paper.
    window : int, default 1250
        Number of recent scores.
    loss_bound : float, default 1.0
        The largest possible loss. Levels learn from scores: a round is a miss if its loss would
        have exceeded alpha.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = DtACI(alpha=0.1)
    >>> for score in (0.3, 0.1, 0.2):
    ...     _ = cal.update(None, loss=float(score > cal.threshold(None)), score=score)
    >>> 0.2 < cal.threshold(None) <= 0.3
    True

    References
    ----------
    Gibbs and Candes, "Conformal Inference for Online Prediction with Arbitrary Distribution
    Shifts", JMLR 25, 2024; the authors' code is github.com/isgibbs/DtACI.
    """

    def __init__(
        self,
        alpha: float,
        gammas: Sequence[float] = GAMMAS,
        interval: int = 500,
        window: int = 1250,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.gammas = checked_gammas(gammas)
        self.interval = validation.integer("interval", interval, 1, "It is a number of rounds.")
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self._sigma = 1.0 / (2.0 * self.interval)
        self._eta = learning_rate(self._target, len(self.gammas), self.interval)
        self._steps = np.array(self.gammas)
        self._levels = np.full(len(self.gammas), self._target)
        self._weights = np.full(len(self.gammas), 1.0 / len(self.gammas))
        self._scores = ScoreWindow(self.window, self.initial_threshold)

    @property
    def level(self) -> float:
        """The weighted mean of the levels: the share of rounds that the next set may miss."""
        return float(self._weights @ self._levels)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._scores.threshold(self.level, linear)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        self._learn_share(self._scores.share_at_least(score))
        self._scores.add(score)

    def _learn_share(self, share: float) -> None:
        """Learn from the share of recent scores that are at least as large as the new one."""
        gap = share - self._levels
        losses = self._target * gap - np.minimum(gap, 0.0)
        weights = self._weights * np.exp(-self._eta * losses)
        self._weights = (1.0 - self._sigma) * weights / weights.sum() + self._sigma / len(weights)
        self._levels = self._levels + self._steps * (self._target - (gap < 0.0))


def learning_rate(alpha: float, count: int, interval: int) -> float:
    """Return the paper's eta for a number of steps and the length of an interval.

    >>> round(learning_rate(0.1, 8, 500), 2)
    2.76
    """
    spread = (1.0 - alpha) ** 2 * alpha**3 + alpha**2 * (1.0 - alpha) ** 3
    return math.sqrt(3.0 / interval) * math.sqrt((math.log(count * interval) + 2.0) / spread)


def checked_gammas(gammas: Sequence[float]) -> tuple[float, ...]:
    """Return candidate steps as a tuple; one of them may be 0."""
    steps = tuple(validation.not_negative("gammas", gamma, GAMMA_HINT) for gamma in gammas)
    if not steps:
        raise ValueError(f"gammas must have at least one step, got none. {GAMMA_HINT}")
    return steps
