"""The quantile of the latest scores: split conformal prediction in a sliding window."""

from __future__ import annotations

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.aci import WINDOW_HINT
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.score_window import ScoreWindow, conformal


class RollingQuantile(Peer):
    """Split conformal prediction on the latest scores.

    The threshold is the `ceil((n + 1)(1 - alpha))`-th smallest of the n latest scores, or the
    largest so far if there are too few. It ignores losses, so nothing is promised once the
    distribution changes.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    window : int, default 500
        Number of recent scores.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = RollingQuantile(alpha=0.5, window=3)
    >>> for score in (9.0, 1.0, 2.0, 3.0):
    ...     _ = cal.update(None, loss=0.0, score=score)
    >>> cal.threshold(None)
    2.0

    References
    ----------
    Vovk, Gammerman and Shafer, *Algorithmic Learning in a Random World*, 2005; as a baseline for
    time series in Angelopoulos, Candes and Tibshirani, "Conformal PID Control for Time Series
    Prediction", NeurIPS 2023.
    """

    def __init__(
        self,
        alpha: float,
        window: int = 500,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self._scores = ScoreWindow(self.window, self.initial_threshold)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._scores.threshold(self._target, conformal)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        self._scores.add(score)
