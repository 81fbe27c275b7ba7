"""Bernstein online aggregation: weights of experts from their regrets and their variation."""

from __future__ import annotations

import numpy as np

from localarc.validation import FloatArray


class BernsteinAggregation:
    """Weights of K experts by second-order regrets, with a learning rate for each.

    With r the regret of a round against each expert, `v = sum 2.2 r^2` and
    `R = sum (r - r^2 / sqrt(v))`, weights are proportional to `exp(R / sqrt(v)) / sqrt(v)`.

    Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning 106, 2017,
    with the learning rates of the R package opera.
    """

    def __init__(self, experts: int) -> None:
        self._variation = np.zeros(experts)
        self._regret = np.zeros(experts)

    @property
    def weights(self) -> FloatArray:
        """The weights of the next round, which sum up to 1."""
        count, seen = len(self._variation), self._variation > 0.0
        weights = np.full(count, 1.0)
        if seen.any():
            scale = np.sqrt(self._variation[seen])
            exponent = self._regret[seen] / scale - np.log(scale)
            ratio = np.exp(exponent - exponent.max())
            weights[seen] = seen.sum() * ratio / ratio.sum()
        return weights / count

    def learn(self, regret: FloatArray) -> None:
        """Learn how much more the mixture lost than each expert."""
        self._variation = self._variation + 2.2 * regret**2
        scale = np.sqrt(np.where(self._variation > 0.0, self._variation, 1.0))
        self._regret = self._regret + regret - regret**2 / scale
