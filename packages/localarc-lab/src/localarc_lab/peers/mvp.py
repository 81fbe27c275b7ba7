"""MVP: thresholds from a grid, chosen at random so that no group and bucket stays wrong."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.first_rounds import CALIBRATION, FirstRounds
from localarc_lab.peers.gcaci import with_everyone

_ROUND_OFF = 1e-12


class MVP(Peer):
    """Multivalid prediction: coverage for every group, also among rounds of equal threshold.

    Scores are scaled to [0, 1], which is divided into buckets. For each bucket and group, covered
    rounds in excess of the target are counted. The threshold is drawn from the two buckets between
    which the exponentially weighted sum of these counts over the round's groups changes its sign.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted, in every group.
    buckets : int, default 50
        Number of buckets.
    eta : float, default 0.5
        Weight of the excess.
    score_range : pair of float or None, default None
        The smallest and largest threshold. None is the range of the scores of the first
        `calibration` rounds, whose thresholds are those of split conformal prediction.
    calibration : int, default 150
        Number of rounds that fix the range.
    seed : int, default 0
        Seed of the draws.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = MVP(alpha=0.1, score_range=(0.0, 1.0))
    >>> for score in (0.3, 0.1, 0.2):
    ...     _ = cal.update(None, loss=float(score > cal.threshold(None)), score=score)
    >>> 0.0 <= cal.threshold(None) <= 1.0
    True

    References
    ----------
    Bastani, Gupta, Jung, Noarov, Ramalingam and Roth, "Practical Adversarial Multivalid Conformal
    Prediction", NeurIPS 2022; defaults are those of github.com/ProgBelarus/MultiValidPrediction.
    """

    learns_from: ClassVar[frozenset[str]] = frozenset({"score", "groups"})
    _BELOW = 1e-3  # a draw of the lower bucket lies that part of a bucket below its upper end

    def __init__(
        self,
        alpha: float,
        buckets: int = 50,
        eta: float = 0.5,
        score_range: tuple[float, float] | None = None,
        calibration: int = CALIBRATION,
        seed: int = 0,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.buckets = validation.integer("buckets", buckets, 2, "It is a number of buckets.")
        self.eta = validation.positive("eta", eta, "It is the weight of the excess, e.g. 0.5.")
        self.seed = validation.integer("seed", seed, 0, "It seeds the draws.")
        self.score_range = None if score_range is None else validation.ascending_pair(score_range)
        self._first = FirstRounds(calibration, self.initial_threshold)
        self.calibration = self._first.size
        self._range = self.score_range
        self._random = np.random.default_rng(self.seed)
        self._draw = float(self._random.random())
        self._excess: dict[Hashable, FloatArray] = {}  # covered rounds beyond the target
        self._counts: dict[Hashable, FloatArray] = {}

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        if self._range is None:
            return self._first.threshold(self._target)
        low, high = self._range
        return low + (high - low) * self._place(groups)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        if self._range is not None:
            self._count(self._place(groups), loss, groups)
            self._draw = float(self._random.random())
            return
        self._first.add(score)
        if self._first.complete:
            self._range = self._first.measure_range()

    def _place(self, groups: Memberships) -> float:
        """The threshold on the scale from 0 to 1."""
        above, below = self._logs(groups)
        gap = above - below
        gap[np.abs(gap) < _ROUND_OFF] = 0.0
        turns = np.flatnonzero((gap[1:] >= 0) & (gap[:-1] <= 0) | (gap[1:] <= 0) & (gap[:-1] >= 0))
        if not len(turns):
            return 1.0 if (gap <= 0.0).all() else 0.0
        i = int(turns[0]) + 1
        left, right = np.abs(np.exp(above[i - 1 : i + 1]) - np.exp(below[i - 1 : i + 1]))
        total = left + right
        lower = self._draw <= (1.0 if total == 0.0 else right / total)
        return (i - self._BELOW * lower) / self.buckets

    def _logs(self, groups: Memberships) -> tuple[FloatArray, FloatArray]:
        """Logarithms of the exponential sums of excess and of shortfall, by bucket."""
        none = np.zeros(self.buckets)
        mine = list(with_everyone(groups))
        counts = np.array([self._counts.get(group, none) for group in mine])
        excess = np.array([self._excess.get(group, none) for group in mine])
        weights = 1.0 / np.sqrt((counts + 1.0) * np.log2(counts + 2.0) ** 2)
        exponent = self.eta * excess * weights
        return _log_sum(exponent, weights), _log_sum(-exponent, weights)

    def _count(self, place: float, loss: float, groups: Memberships) -> None:
        bucket = min(int(place * self.buckets + self._BELOW / 2.0), self.buckets - 1)
        for group in with_everyone(groups):
            self._excess.setdefault(group, np.zeros(self.buckets))[bucket] += self._target - loss
            self._counts.setdefault(group, np.zeros(self.buckets))[bucket] += 1.0


def _log_sum(exponents: FloatArray, weights: FloatArray) -> FloatArray:
    """log(sum(weights * exp(exponents))) over groups, without overflow."""
    top = exponents.max(axis=0)
    return np.asarray(top + np.log((weights * np.exp(exponents - top)).sum(axis=0)))
