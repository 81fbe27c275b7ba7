"""Tests by others, as watchers: an exact binomial test and the bound of MAPIE's RiskMonitoring."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from benchmarks.monitoring.watchers import LEVEL, LIMIT, Flags
from localarc.validation import FloatArray

ROUNDS = 100_000


class Binomial:
    """An exact binomial test of losses of 0 and 1 at every round, at a level for each of them.

    With a window, it tests the last rounds only.
    """

    def __init__(self, streams: int, window: int | None = None, looks: int = ROUNDS) -> None:
        self.window = window
        sizes = np.arange(1, looks + 1)
        level = LEVEL / looks  # Bonferroni
        self.critical = binom.isf(level, sizes, LIMIT) + 1
        self.rounds, self.misses = 0, np.zeros(streams)
        self.last = np.zeros((window or 0, streams))

    def add(self, losses: FloatArray) -> Flags:
        """Count a round, and forget the one that leaves the window."""
        self.misses += losses
        if self.window is not None:
            place = self.rounds % self.window
            self.misses -= self.last[place]
            self.last[place] = losses
        self.rounds += 1
        tested = min(self.rounds, self.window or self.rounds)
        return np.asarray(self.misses >= self.critical[tested - 1])


class Mapie:
    """The lower bound of MAPIE's `RiskMonitoring`, interpolated between values of its variance.

    RiskMonitoring computes its bound again from all rounds at each update, in time proportional to
    their number. The bound depends on a round only through the variance so far: it is computed by
    MAPIE at 600 variances and interpolated. Half of its `test_level` is for the reference data, so
    that a level of 0.01 for the losses is a `test_level` of 0.02.
    """

    def __init__(self, streams: int) -> None:
        from mapie.exchangeability_testing.bounds import GammaExponentialMixtureBound

        bound = GammaExponentialMixtureBound(v_opt=1, c=1, alpha_opt=LEVEL / 2)
        self.variances = np.concatenate([[0.0], np.geomspace(1e-3, ROUNDS, 600)])
        self.bounds = np.array([bound(v=float(v), alpha=LEVEL / 2) for v in self.variances])
        self.rounds = 0
        self.losses, self.variance = np.zeros(streams), np.zeros(streams)

    def add(self, losses: FloatArray) -> Flags:
        """Compare the lower bound of the mean of all rounds with the limit."""
        before = self.losses / self.rounds if self.rounds else 0.5
        self.variance += (losses - before) ** 2
        self.losses += losses
        self.rounds += 1
        alarm = np.zeros(len(losses), bool)
        excess = self.losses - self.rounds * LIMIT
        above = np.flatnonzero(excess > 0.0)
        width = np.interp(self.variance[above], self.variances, self.bounds)
        alarm[above] = excess[above] > width
        return alarm
