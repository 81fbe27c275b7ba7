"""SF-OGD: gradient steps that shrink with the gradients seen so far."""

from __future__ import annotations

import math

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.first_rounds import CALIBRATION, FirstRounds, largest, scale_setting

FLOOR_HINT = "It is the smallest possible score; None if there is none."


class SFOGD(Peer):
    """Scale-free online gradient descent on the pinball loss.

    With g_t = alpha - loss_t, `q_(t+1) = q_t - scale g_t / sqrt(3 sum g_i^2)`, kept at or above
    the floor.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    scale : float or None, default None
        Units of the score. None is sqrt(3) times the largest score of the first `calibration`
        rounds, as in the authors' code, which learns from these rounds once they are over. Until
        then thresholds are those of split conformal prediction.
    calibration : int, default 150
        Number of rounds that fix the scale.
    floor : float or None, default 0.0
        The smallest threshold; None if scores may be negative.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = SFOGD(alpha=0.1, scale=1.0)
    >>> round(cal.update(None, loss=1.0, score=0.3).threshold(None), 4)
    0.5774

    References
    ----------
    Bhatnagar, Wang, Xiong and Bai, "Improved Online Conformal Prediction via Strongly Adaptive
    Online Learning", ICML 2023; Orabona and Pal, "Scale-free online learning", 2018.
    """

    def __init__(
        self,
        alpha: float,
        scale: float | None = None,
        calibration: int = CALIBRATION,
        floor: float | None = 0.0,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.scale = scale_setting(scale)
        self.floor = None if floor is None else validation.finite("floor", floor, FLOOR_HINT)
        self._first = FirstRounds(calibration, self.initial_threshold)
        self.calibration = self._first.size
        self._unit = self.scale
        self._radius = self.initial_threshold
        self._squares = 0.0

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._radius if self._unit else self._first.threshold(self._target)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        if self._unit:
            self._step(loss)
            return
        self._first.add(score)
        if self._first.complete:
            self._unit = math.sqrt(3.0) * self._first.measure(largest)
            for known in self._first.scores:
                self._step(float(known > self._radius))

    def _step(self, loss: float) -> None:
        gradient = self._target - loss
        self._squares += gradient**2
        if self._squares > 0.0:
            self._radius -= (self._unit or 1.0) * gradient / math.sqrt(3.0 * self._squares)
        if self.floor is not None:
            self._radius = max(self.floor, self._radius)
