"""Local quantiles: those of the nearest rounds, or with weights that fall with distance."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.aci import WINDOW_HINT
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.local_window import LocalWindow, rule_of_thumb, weighted_quantile
from localarc_lab.peers.score_window import conformal


class NearestQuantile(Peer):
    """Split conformal prediction on the scores of the nearest inputs in a window.

    Distances are Euclidean in features that are divided by their standard deviations.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    neighbours : int, default 100
        Number of nearest inputs.
    window : int, default 1000
        Number of recent rounds among which they are sought.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold of the first round.

    Examples
    --------
    >>> cal = NearestQuantile(alpha=0.5, neighbours=3)
    >>> for x, score in [(0.0, 1.0), (0.1, 2.0), (0.2, 3.0), (9.0, 50.0), (9.1, 60.0)]:
    ...     _ = cal.update([x], loss=0.0, score=score)
    >>> cal.threshold([0.0])
    2.0

    References
    ----------
    Lei and Wasserman, "Distribution-free prediction bands for non-parametric regression", JRSS B
    76, 2014; Guan, "Localized conformal prediction", Biometrika 110, 2023. Neither fixes the number
    of neighbours or a window.
    """

    _reads_inputs: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float,
        neighbours: int = 100,
        window: int = 1000,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        hint = "It is the number of nearest inputs."
        self.neighbours = validation.integer("neighbours", neighbours, 1, hint)
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self._recent = LocalWindow(self.window, self.initial_threshold)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        if point is None or not len(self._recent):
            return self.initial_threshold
        scores = self._recent.scores
        if len(scores) > self.neighbours:
            distances = self._recent.distances(point)
            scores = scores[np.argpartition(distances, self.neighbours - 1)[: self.neighbours]]
        return self._recent.finite(conformal(np.sort(scores).tolist(), 1.0 - self._target))

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        assert point is not None
        self._recent.add(point, score)


class KernelQuantile(Peer):
    """A quantile of the scores in a window, with weights that fall with distance.

    The weight at distance d, in features divided by their standard deviations, is
    `exp(-d / bandwidth)`. The new input itself counts with weight 1 and an infinite score; where
    that makes the quantile infinite, the threshold is the largest score so far.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    bandwidth : float or None, default None
        None is Silverman's rule for the window, times the root of the number of features.
    window : int, default 1000
        Number of recent rounds.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold of the first round.

    Examples
    --------
    >>> cal = KernelQuantile(alpha=0.5, bandwidth=0.1)
    >>> for x, score in [(0.0, 1.0), (0.1, 2.0), (0.2, 3.0), (9.0, 50.0), (9.1, 60.0)]:
    ...     _ = cal.update([x], loss=0.0, score=score)
    >>> cal.threshold([0.0])
    2.0

    References
    ----------
    Guan, "Localized conformal prediction: a generalized inference framework for conformal
    prediction", Biometrika 110, 2023, without the adjustment of the level that makes coverage
    exact for exchangeable rounds.
    """

    _reads_inputs: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float,
        bandwidth: float | None = None,
        window: int = 1000,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.bandwidth = checked_bandwidth(bandwidth)
        self.window = validation.integer("window", window, 1, WINDOW_HINT)
        self._recent = LocalWindow(self.window, self.initial_threshold)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        if point is None or not len(self._recent):
            return self.initial_threshold
        width = self.bandwidth or rule_of_thumb(len(point), self.window)
        weights = np.append(np.exp(-self._recent.distances(point) / width), 1.0)
        scores = np.append(self._recent.scores, math.inf)
        found = weighted_quantile(scores, weights[:, None], [1.0 - self._target])
        return self._recent.finite(float(found[0]))

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        assert point is not None
        self._recent.add(point, score)


def checked_bandwidth(bandwidth: float | None) -> float | None:
    """Check a bandwidth, where one is given."""
    hint = "It is a distance in standardized features; None follows a rule of thumb."
    return None if bandwidth is None else validation.positive("bandwidth", bandwidth, hint)
