"""OLCP: adaptive conformal inference on kernel-weighted scores."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.aci import WINDOW_HINT
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.local_quantiles import checked_bandwidth
from localarc_lab.peers.local_window import LocalWindow, rule_of_thumb, weighted_quantile

_TINY = 1e-12
HORIZON_HINT = "It is the number of rounds to come."


class OLCP(Peer):
    """Online localized conformal prediction: the level of a local quantile follows the misses.

    The threshold is the quantile of the latest scores at `1 - a_t`, where a score at distance d
    weighs `exp(-d / bandwidth)`, in features divided by their standard deviations. The level
    follows `a_(t+1) = a_t + gamma (alpha - loss_t)` within [0, 1].

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    horizon : int, default 10_000
        Number of rounds T; the authors' gamma is `0.5 / sqrt(T)`.
    window : int, default 100
        Number of recent rounds.
    bandwidth : float or None, default None
        None is the authors' rule of thumb.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold of the first round.

    Examples
    --------
    >>> cal = OLCP(alpha=0.5, bandwidth=0.1)
    >>> for x, score in [(0.0, 1.0), (0.1, 2.0), (0.2, 3.0), (9.0, 50.0), (9.1, 60.0)]:
    ...     _ = cal.update([x], loss=float(score > cal.threshold([x])), score=score)
    >>> cal.threshold([0.0]), cal.threshold([9.0])
    (2.0, 50.0)

    References
    ----------
    Lai and Raskutti, "Online Localized Conformal Prediction", arXiv 2605.05497, 2026; the authors'
    code is github.com/yuhenglai/OLCP.
    """

    _reads_inputs: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float,
        horizon: int = 10_000,
        window: int = 100,
        bandwidth: float | None = None,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.horizon = validation.integer("horizon", horizon, 1, HORIZON_HINT)
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self.bandwidth = checked_bandwidth(bandwidth)
        self._gamma = 0.5 / math.sqrt(self.horizon)
        self._level = self._target
        self._recent = LocalWindow(self.window, self.initial_threshold)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        if point is None or not len(self._recent):
            return self.initial_threshold
        width = self.bandwidth or rule_of_thumb(len(point), self.window)
        return float(local_quantiles(self._recent, point, np.array([width]), [self._level])[0])

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        assert point is not None
        if len(self._recent):
            moved = self._level + self._gamma * (self._target - loss)
            self._level = min(max(moved, 0.0), 1.0)
        self._recent.add(point, score)


def local_quantiles(
    recent: LocalWindow, point: FloatArray, widths: FloatArray, levels: list[float]
) -> FloatArray:
    """Return the quantile at one minus each level, with weights of each bandwidth."""
    weights = np.exp(-recent.distances(point)[:, None] / widths)
    weights[:, weights.sum(axis=0) < _TINY] = 1.0  # all equal where the point is far from all
    return weighted_quantile(recent.scores, weights, [1.0 - level for level in levels])
