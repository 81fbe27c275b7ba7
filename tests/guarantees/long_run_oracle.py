"""The bounds of ARC and LARC from a log of losses: with floors, restarts and late losses.

Written out from docs/guarantees.md in plain loops, without anything of the library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Letters:
    """The letters of the page that never change. The rate is eta / sqrt(t)."""

    alpha: float = 0.3
    B: float = 2.0
    scores: tuple[float, float] = (-1.0, 1.0)
    start: float = 0.2
    eta: float = 0.7
    kappa: float = 0.0  # of a kernel that is never negative, 0 without one
    lam: float = 0.0
    floor: float | None = None
    window: float = math.inf
    clip: float = math.inf

    def rate(self, t: int) -> float:
        return self.eta / math.sqrt(t)


class LongRun:
    """One segment: the rounds since the start, or since a restart after `earlier` others."""

    def __init__(
        self,
        letters: Letters,
        losses: Sequence[float],
        *,
        earlier: int = 0,
        start: float = math.nan,
    ) -> None:
        self.letters, self.losses, self.earlier = letters, losses, earlier
        self.lowest_allowed = -math.inf if letters.floor is None else letters.floor
        first = max(letters.start, self.lowest_allowed) if math.isnan(start) else start
        self.c, self.lifts = [first], list[float]()
        for t, loss in enumerate(losses, start=1):
            free = self.c[-1] + letters.rate(t) * (loss - letters.alpha)
            self.c.append(max(free, self.lowest_allowed))
            self.lifts.append((self.c[-1] - free) / letters.rate(t))

    @property
    def T(self) -> int:  # noqa: N802
        return len(self.losses)

    @property
    def per_round(self) -> float:
        """1 / (eta_T T)."""
        return 1.0 / (self.letters.rate(self.T) * self.T)

    @property
    def lifted(self) -> float:
        """What the floor added, as a part of the mean."""
        return sum(self.lifts) / self.T

    @property
    def risk(self) -> float:
        return sum(self.losses) / self.T

    @property
    def accounted(self) -> float:
        """The identity: sum_r Delta_r (c_(T+1) - c_r), less what the floor lifted."""
        total, before = 0.0, 0.0
        for t in range(1, self.T + 1):
            inverse = 1.0 / self.letters.rate(t)
            total += (inverse - before) * (self.c[-1] - self.c[t - 1])
            before = inverse
        return total - sum(self.lifts)

    def observed(self) -> float:
        rise = (self.c[-1] - min(self.c)) * self.per_round
        fall = (max(self.c) - self.c[-1]) * self.per_round
        return max(rise, fall + self.lifted)

    def local_range(self, rounds: int) -> tuple[float, float]:
        """(F_-, F_+): all steps kept; after a restart each may be as large as the first."""
        letters, kept = self.letters, min(rounds, self.letters.window)
        reach = 2.0 * letters.eta * math.sqrt(kept)
        if self.earlier:
            reach = letters.eta * min(letters.window, self.earlier + rounds)
        if letters.lam:
            reach = min(reach, 1.0 / letters.lam)
        if not letters.kappa:
            return 0.0, 0.0
        down, up = letters.alpha, letters.B - letters.alpha
        limits = [min(letters.kappa * side * reach, letters.clip) for side in (down, up)]
        return limits[0], limits[1]

    def range_of_c(self, step: float, pending: int, rounds: int) -> tuple[float, float]:
        """Where c can be, with the steps of the losses that may still come."""
        letters = self.letters
        below, above = self.local_range(rounds)
        low = letters.scores[0] - above - (pending + 1) * step * letters.alpha
        high = letters.scores[1] + below + (pending + 1) * step * (letters.B - letters.alpha)
        return low, high

    def theorem_a(self, pending: int = 0) -> float:
        low, high = self.range_of_c(self.letters.eta, pending, self.T)
        low = min(low, self.c[0]) if self.letters.floor is None else self.letters.floor
        return (max(high, self.c[0]) - low) * self.per_round + self.lifted

    def at_most(self, pending: int = 0) -> float:
        assert self.letters.floor is not None
        _, high = self.range_of_c(self.letters.eta, pending, self.T)
        return (max(high, self.c[0]) - self.letters.floor) * self.per_round

    def norms(self) -> list[float]:
        """R_0, ..., R_T."""
        letters, high = self.letters, self.letters.scores[1]
        span, worst = high - letters.scores[0], max(letters.alpha, letters.B - letters.alpha)
        square, found = (self.c[0] - high) ** 2, [abs(self.c[0] - high)]
        for t in range(1, self.T + 1):
            eta = letters.rate(t)
            square += 2.0 * letters.alpha * span * eta
            square += worst**2 * eta**2 * (1.0 + letters.kappa * (1.0 + letters.lam * eta))
            found.append(math.sqrt(square))
        return found

    def theorem_b(self) -> float:
        R, total, before = self.norms(), 0.0, 0.0
        for t in range(1, self.T + 1):
            inverse = 1.0 / self.letters.rate(t)
            total += (inverse - before) * R[t - 1]
            before = inverse
        return R[self.T] * self.per_round + total / self.T + self.lifted

    def theorem_c(self, norm: float) -> float:
        letters, R = self.letters, self.norms()
        most = math.sqrt(letters.kappa) * max(letters.alpha, letters.B - letters.alpha)
        faded = sum(min(letters.lam * r, most) for r in R[: self.T]) / self.T
        return norm * (self.theorem_b() + faded)

    def forward(self, rounds: int, pending: int = 0) -> float:
        letters, step = self.letters, self.letters.rate(self.T + 1)
        low, high = self.range_of_c(step, pending, rounds)
        low = min(low, *self.c, self.c[-1] - pending * step * letters.alpha)
        high = max(high, *self.c, self.c[-1] + pending * step * (letters.B - letters.alpha))
        low = low if letters.floor is None else letters.floor
        return (high - low) / (letters.rate(rounds) * rounds)
