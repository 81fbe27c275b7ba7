"""Adaptive conformal inference: the level of a rolling quantile follows the misses."""

from __future__ import annotations

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.score_window import ScoreWindow, linear

GAMMA_HINT = "It is the step of the level, e.g. 0.005."
WINDOW_HINT = "It is the number of recent scores."


class ACI(Peer):
    """Adaptive conformal inference: a rolling quantile whose level follows the misses.

    The threshold is the quantile of the latest scores at `1 - a_t`, and
    `a_(t+1) = a_t + gamma (alpha - loss_t)`. Where `a_t` leaves (0, 1), the method's set is full or
    empty; here the threshold is the largest score so far, or lies below the smallest.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    gamma : float, default 0.005
        Step of the level; the paper's value.
    window : int, default 1250
        Number of recent scores; the paper's for daily returns.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = ACI(alpha=0.1)
    >>> for score in (0.3, 0.1, 0.2):
    ...     _ = cal.update(None, loss=float(score > cal.threshold(None)), score=score)
    >>> round(cal.threshold(None), 3)
    0.281

    References
    ----------
    Gibbs and Candes, "Adaptive Conformal Inference Under Distribution Shift", NeurIPS 2021; the
    quantile follows the authors' code, github.com/isgibbs/AdaptiveConformal.
    """

    def __init__(
        self,
        alpha: float,
        gamma: float = 0.005,
        window: int = 1250,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.gamma = validation.positive("gamma", gamma, GAMMA_HINT)
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self._level = self._target
        self._scores = ScoreWindow(self.window, self.initial_threshold)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._scores.threshold(self._level, linear)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        self._level += self.gamma * (self._target - loss)
        self._scores.add(score)
