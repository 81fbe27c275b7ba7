"""SAOCP: scale-free learners of many lifetimes, mixed by coin betting."""

from __future__ import annotations

import math

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.first_rounds import CALIBRATION, FirstRounds, largest, scale_setting
from localarc_lab.peers.score_window import ScoreWindow
from localarc_lab.peers.sf_ogd import FLOOR_HINT

_ROUND_OFF = 1e-12
_FIELDS = 7
_RADIUS, _SQUARES, _GAIN, _WEIGHTED, _AGE, _LIFETIME, _BIRTH = range(_FIELDS)


class SAOCP(Peer):
    """Strongly adaptive online conformal prediction.

    A learner is born in every round t and lives for `lifetime` times the largest power of two that
    divides t. Each descends on the pinball loss as `SFOGD` does, starting from the mixture. Their
    weights are those of coin bettors on how much less they lose than the mixture, so that the
    mixture does well in every stretch of time.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    scale : float or None, default None
        Units of the score. None is sqrt(3) times the largest score of the first `calibration`
        rounds, as in the authors' code, which learns from these rounds once they are over. Until
        then thresholds are those of split conformal prediction.
    lifetime : int, default 8
        The shortest lifetime of a learner.
    calibration : int, default 150
        Number of rounds that fix the scale.
    floor : float or None, default 0.0
        The smallest threshold; None if scores may be negative.
    loss_bound : float, default 1.0
        The largest possible loss. Learners learn from scores: a round is a miss if its loss would
        have exceeded alpha.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = SAOCP(alpha=0.1, scale=1.0)
    >>> for score in (0.3, 0.1, 0.2):
    ...     _ = cal.update(None, loss=float(score > cal.threshold(None)), score=score)
    >>> 0.0 < cal.threshold(None) < 1.0
    True

    References
    ----------
    Bhatnagar, Wang, Xiong and Bai, "Improved Online Conformal Prediction via Strongly Adaptive
    Online Learning", ICML 2023; the authors' code is the package online-conformal.
    """

    def __init__(
        self,
        alpha: float,
        scale: float | None = None,
        lifetime: int = 8,
        calibration: int = CALIBRATION,
        floor: float | None = 0.0,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.scale = scale_setting(scale)
        self.lifetime = validation.integer("lifetime", lifetime, 1, "It is a number of rounds.")
        self.floor = None if floor is None else validation.finite("floor", floor, FLOOR_HINT)
        self._first = FirstRounds(calibration, self.initial_threshold)
        self.calibration = self._first.size
        self._seen = ScoreWindow(1)  # for infinite scores
        self._unit = self.scale
        self._born = 0
        self._learners = np.zeros((_FIELDS, 0))

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._mixture() if self._unit else self._first.threshold(self._target)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        self._seen.add(score)
        known = self._seen.finite(score)
        if self._unit:
            self._step(known)
            return
        self._first.add(known)
        if self._first.complete:
            self._unit = math.sqrt(3.0) * self._first.measure(largest)
            for score in self._first.scores:
                self._step(score)

    def _weights(self) -> FloatArray:
        """Bets, or the prior if no learner bets; the prior prefers old learners."""
        birth = self._learners[_BIRTH]
        prior = 1.0 / (birth**2 * (1.0 + np.floor(np.log2(birth))))
        bets = prior / prior.sum() * np.maximum(self._bets(), 0.0)
        chosen = bets if bets.sum() > 0.0 else prior
        return np.asarray(chosen / chosen.sum())

    def _bets(self) -> FloatArray:
        age = self._learners[_AGE]
        fraction = self._learners[_GAIN] / np.maximum(age, 1.0)
        return np.asarray(fraction * (1.0 + self._learners[_WEIGHTED]))

    def _mixture(self) -> float:
        if not self._learners.shape[1]:
            return self.initial_threshold
        return float(self._weights() @ self._learners[_RADIUS])

    def _step(self, score: float) -> None:
        """Replace expired learners by a new one, then let all of them learn."""
        start = self._mixture()
        alive = self._learners[:, self._learners[_AGE] <= self._learners[_LIFETIME]]
        self._born += 1
        life = self.lifetime * (self._born & -self._born)
        new = np.array([start, 0.0, 0.0, 0.0, 0.0, life, self._born])
        self._learners = np.column_stack([alive, new])
        self._bet(score)
        self._descend(score)

    def _bet(self, score: float) -> None:
        radii = self._learners[_RADIUS]
        bets, mixture = self._bets(), self._mixture()
        unit = (self._unit or 1.0) * max(self._target, 1.0 - self._target)
        gain = (pinball(score, mixture, self._target) - pinball(score, radii, self._target)) / unit
        gain[np.abs(gain) < _ROUND_OFF] = (
            0.0  # a learner that agrees with the mixture gains nothing
        )
        gain = np.clip(gain, -1.0 * (bets > 0.0), 1.0)
        self._learners[_GAIN] += gain
        self._learners[_WEIGHTED] += gain * bets
        self._learners[_AGE] += 1.0

    def _descend(self, score: float) -> None:
        radii = self._learners[_RADIUS]
        gradient = self._target * (score < radii) - (1.0 - self._target) * (score > radii)
        self._learners[_SQUARES] += gradient**2
        size = np.sqrt(3.0 * np.maximum(self._learners[_SQUARES], np.finfo(np.float64).tiny))
        radii -= (self._unit or 1.0) * gradient / size
        if self.floor is not None:
            np.maximum(radii, self.floor, out=radii)


def pinball(score: float, threshold: FloatArray | float, alpha: float) -> FloatArray:
    """Return the pinball loss of thresholds at the quantile 1 - alpha.

    >>> float(pinball(1.0, 0.0, 0.1)), float(pinball(0.0, 1.0, 0.1))
    (0.9, 0.1)
    """
    gap = score - np.asarray(threshold)
    return np.asarray(np.maximum((1.0 - alpha) * gap, -alpha * gap))
