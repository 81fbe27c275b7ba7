"""Online quantile regression on random Fourier features."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.first_rounds import CALIBRATION, FirstRounds


class RandomFourierQuantile(Peer):
    """Gradient steps on the pinball loss of a linear function of random Fourier features.

    Features are standardized by the first rounds. With `z(x) = sqrt(2 / D) cos(W x + b)`, which
    approximates a Gaussian kernel, the threshold is `c + <theta, z(x)>`, and both c and theta move
    by `rate unit (loss - alpha) / sqrt(t)` along their features.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted.
    features : int, default 200
        Number D of random features.
    length_scale : float, default 1.0
        Length scale of the kernel, in standard deviations of the inputs.
    rate : float, default 1.0
        The first step, in units of the spread of the scores.
    calibration : int, default 150
        Number of first rounds, which fix the units of features and scores, and whose thresholds
        are those of split conformal prediction.
    seed : int, default 0
        Seed of the random features.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = RandomFourierQuantile(alpha=0.1, calibration=2)
    >>> for x, score in [(0.0, 1.0), (1.0, 2.0), (0.5, 9.0)]:
    ...     _ = cal.update([x], loss=float(score > cal.threshold([x])), score=score)
    >>> cal.threshold([0.5]) > cal.threshold([9.0])
    True

    References
    ----------
    Rahimi and Recht, "Random features for large-scale kernel machines", NeurIPS 2007; Lu, Hoi,
    Wang, Zhao and Liu, "Large scale online kernel learning", JMLR 17, 2016 (Fourier online gradient
    descent), with the pinball loss. The settings are ours.
    """

    _reads_inputs: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float,
        features: int = 200,
        length_scale: float = 1.0,
        rate: float = 1.0,
        calibration: int = CALIBRATION,
        seed: int = 0,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.features = validation.integer("features", features, 1, "It is a number of features.")
        hint = "It is in standard deviations of the inputs."
        self.length_scale = validation.positive("length_scale", length_scale, hint)
        self.rate = validation.positive("rate", rate, "It is in units of the scores' spread.")
        self.seed = validation.integer("seed", seed, 0, "It seeds the random features.")
        self._first = FirstRounds(calibration, self.initial_threshold)
        self.calibration = self._first.size
        self._inputs: list[FloatArray] = []
        self._unit = 0.0
        self._steps = 0
        self._constant = self.initial_threshold
        self._weights = np.zeros(self.features)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        if point is None or not self._unit:
            return self._first.threshold(self._target)
        return self._constant + float(self._weights @ self._transform(point))

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        assert point is not None
        if self._unit:
            self._step(point, loss)
            return
        self._first.add(score)
        self._inputs.append(point)
        if self._first.complete:
            self._fix_units()
            for x, known in zip(self._inputs, self._first.scores, strict=True):
                self._step(x, float(known > self._threshold(x, {})))
            self._inputs.clear()

    def _fix_units(self) -> None:
        inputs = np.array(self._inputs)
        random = np.random.default_rng(self.seed)
        spread = inputs.std(axis=0)
        spread[spread == 0.0] = 1.0
        waves = random.normal(size=(self.features, inputs.shape[1])) / self.length_scale
        self._waves = waves / spread
        self._shifts = random.uniform(0.0, 2.0 * math.pi, self.features)
        self._centre = inputs.mean(axis=0)
        self._unit = self._first.measure(_spread)

    def _transform(self, point: FloatArray) -> FloatArray:
        angles = self._waves @ (point - self._centre) + self._shifts
        return np.asarray(math.sqrt(2.0 / self.features) * np.cos(angles))

    def _step(self, point: FloatArray, loss: float) -> None:
        self._steps += 1
        push = self.rate * self._unit / math.sqrt(self._steps) * (loss - self._target)
        self._constant += push
        self._weights += push * self._transform(point)


def _spread(scores: list[float]) -> float:
    """The range of the middle 80 %."""
    low, high = np.quantile(scores, (0.1, 0.9))
    return float(high - low)
