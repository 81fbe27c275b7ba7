"""The theta method: exponential smoothing with half the trend, as a forecast of the next score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localarc import validation

SMOOTHINGS = tuple(k / 20 for k in range(1, 20))
"""Candidates for the weight of the newest score."""


class Theta:
    """Forecast the next score by the theta method, in constant time per round.

    The forecast is simple exponential smoothing plus half the slope of a regression on time. The
    smoothing weight is the candidate whose one-step forecasts had the smallest squared error;
    statsmodels' `ThetaModel`, which the authors of conformal PID call, optimizes it.

    Parameters
    ----------
    smoothings : sequence of float, default 0.05, 0.10, ..., 0.95
        Candidates for the weight of the newest score.

    Examples
    --------
    >>> theta = Theta()
    >>> for score in (1.0, 2.0, 3.0, 4.0):
    ...     theta.learn(score)
    >>> round(theta.forecast(), 3)
    4.474

    References
    ----------
    Assimakopoulos and Nikolopoulos, "The theta model", International Journal of Forecasting 16,
    2000; Hyndman and Billah, "Unmasking the Theta method", 2003.
    """

    def __init__(self, smoothings: Sequence[float] = SMOOTHINGS) -> None:
        values = validation.numbers("smoothings", smoothings).reshape(-1)
        if not len(values) or values.min() <= 0.0 or values.max() > 1.0:
            raise ValueError(
                f"smoothings must lie in (0, 1], got {smoothings!r}. For example (0.1, 0.5)."
            )
        self._weights = values
        self._levels = np.zeros(len(values))
        self._errors = np.zeros(len(values))
        self._count = 0
        self._sum = 0.0
        self._moment = 0.0  # sum of t times the score

    def __repr__(self) -> str:
        low, high = self._weights.min(), self._weights.max()
        return f"Theta({len(self._weights)} smoothings, {low:g} to {high:g})"

    def learn(self, score: float) -> None:
        """Learn the newest score.

        Parameters
        ----------
        score : float
            A finite score.
        """
        if self._count == 0:
            self._levels[:] = score
        else:
            self._errors += (score - self._levels) ** 2
            self._levels += self._weights * (score - self._levels)
        self._sum += score
        self._moment += self._count * score
        self._count += 1

    def forecast(self) -> float:
        """Return the forecast of the next score; 0 before the first one."""
        if self._count == 0:
            return 0.0
        best = int(np.argmin(self._errors))
        weight = float(self._weights[best])
        steps = (1.0 - (1.0 - weight) ** self._count) / weight
        return float(self._levels[best]) + 0.5 * self._slope() * steps

    def _slope(self) -> float:
        """The slope of the least-squares line through all scores."""
        n = self._count
        if n < 2:
            return 0.0
        centre = (n - 1) / 2.0
        return (self._moment - centre * self._sum) / (n * (n * n - 1) / 12.0)
