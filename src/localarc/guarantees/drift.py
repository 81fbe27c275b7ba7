"""How far the threshold function can drift: the sums behind theorems B and C."""

from __future__ import annotations

import math

import numpy as np

from localarc.adaptive.settings import Settings

_CHUNK = 65_536
MOST_ROUNDS = 100_000_000  # a few seconds of sums


class NormSums:
    """Running sums of R_t, a bound on the norm of g_(t+1) - s_max that needs no regularization.

    `R_t^2 = (c_1 - s_max)^2 + 2 alpha (s_max - s_min) sum eta + Q_t`, where Q_t is
    `max(alpha, B - alpha)^2 sum eta^2 (1 + kappa (1 + lambda eta))`.
    """

    def __init__(self, settings: Settings, score_range: tuple[float, float], start: float) -> None:
        self.score_range = score_range
        self._settings = settings
        low, high = score_range
        self._square = (start - high) ** 2
        self._drift = 2.0 * settings.alpha * (high - low)
        self.rounds = 0
        self.latest = math.sqrt(self._square)  # R_T
        self.weighted = 0.0  # sum_r Delta_r R_(r-1)
        self._regularization_sum = 0.0  # sum_t lambda |f_t|, bounded
        self._inverse_rate = 0.0

    def advance(self, rounds: int) -> NormSums:
        """Extend the sums to this number of rounds."""
        while self.rounds < rounds:
            self._chunk(min(rounds, self.rounds + _CHUNK))
        return self

    def _chunk(self, stop: int) -> None:
        settings = self._settings
        kappa = 0.0 if settings.kernel is None else settings.kernel.scale or 0.0
        kappa *= 1.0 + settings.memory.excess
        worst = max(settings.alpha, settings.loss_bound - settings.alpha)
        eta = settings.rate.values(self.rounds + 1, stop + 1)
        kick = worst**2 * eta**2 * (1.0 + kappa * (1.0 + settings.regularization * eta))
        squares = self._square + np.cumsum(self._drift * eta + kick)
        norms = np.sqrt(squares)
        before = np.concatenate(([self.latest], norms[:-1]))
        inverse = 1.0 / eta
        self.weighted += float(np.diff(inverse, prepend=self._inverse_rate) @ before)
        limit = math.sqrt(kappa) * worst  # |f_t| <= sqrt(kappa) max(alpha, B - alpha) / lambda
        self._regularization_sum += float(np.minimum(settings.regularization * before, limit).sum())
        self.latest = float(norms[-1])
        self._square = float(squares[-1])
        self._inverse_rate = float(inverse[-1])
        self.rounds = stop

    @property
    def theorem_b_bound(self) -> float:
        """`(R_T / eta_T + sum_r Delta_r R_(r-1)) / T`: theorem B's bound."""
        return (self.latest * self._inverse_rate + self.weighted) / self.rounds

    @property
    def regularization_cost(self) -> float:
        """The mean of lambda |f_t|, bounded: what regularization costs in theorem C."""
        return self._regularization_sum / self.rounds
