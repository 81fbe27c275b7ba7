"""Bets: money grows by `(1 + a loss) / (1 + a mean)` a round, and hardly if the mean holds.

Losses lie in [0, 1]. For a fixed size `a` of the bet, the product over rounds divided by the same
product with conditional means in place of losses is a martingale, and by the concavity of the
logarithm that product of means is at most `(1 + a mean)^rounds` with their mean. Hence money of
`1 / level` refutes a mean risk, at all rounds at once, with an error of at most `level`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

SIZES = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""Sizes of the bets: the odds of a loss of 1, relative to those allowed, are best less one."""

SHARES = tuple(part / 32 for part in (1, 2, 4, 8, 8, 4, 2, 2, 1))
"""The part of the money on each bet; rises of a fifth to a half are found first."""

_STEPS = 30
_NEGLIGIBLE = 1e-12


class Sums(NamedTuple):
    """What the bets have to know of some rounds with losses in [0, 1]."""

    rounds: int = 0
    losses: float = 0.0
    spread: float = 0.0  # the sum of loss (1 - loss): zero for losses of 0 and 1

    def with_loss(self, loss: float) -> Sums:
        """The same with one more round."""
        return Sums(self.rounds + 1, self.losses + loss, self.spread + loss * (1.0 - loss))

    def plus(self, other: Sums) -> Sums:
        """These rounds and the others."""
        return Sums(
            self.rounds + other.rounds, self.losses + other.losses, self.spread + other.spread
        )


def _worth(size: float, share: float) -> tuple[float, float, float]:
    """What the share, a unit of losses and one of spread add to the logarithm of a bet's money.

    `log(1 + a x) >= x log(1 + a) + x (1 - x) (log(1 + a) - a / (1 + a))` on [0, 1], with equality
    at both ends: the logarithm's third derivative is positive, so that its second divided
    difference at (0, x, 1) rises in x.
    """
    growth = math.log1p(size)
    return math.log(share), growth, growth - size / (1.0 + size)


_WORTH = tuple(map(_worth, SIZES, SHARES))


def log_money(sums: Sums, mean: float) -> list[float]:
    """Logarithm of what each bet has made of its share, at least, against a mean risk."""
    rounds = sums.rounds
    return [won - rounds * math.log1p(a * mean) for won, a in zip(_won(sums), SIZES, strict=True)]


def log_evidence(sums: Sums, mean: float) -> float:
    """Logarithm of all money together, at least, against a mean risk."""
    if sums.losses <= sums.rounds * mean:
        return 0.0  # no bet has gained
    logs = log_money(sums, mean)
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs))


def lower_limit(sums: Sums, needed: float) -> float:
    """The largest mean risk against which the logarithm of the evidence reaches `needed` > 0.

    That logarithm is convex in the mean and falls, so that Newton's steps stay below the limit. The
    first point is the limit of the best single bet.
    """
    if not sums.rounds:
        return 0.0
    gains = [(won - needed) / sums.rounds for won in _won(sums)]
    limit = max(math.expm1(gain) / a for gain, a in zip(gains, SIZES, strict=True))
    limit = max(limit, 0.0)
    for _ in range(_STEPS):
        step = _newton_step(sums, limit, needed)
        if step <= _NEGLIGIBLE * limit:
            break
        limit += step
    return limit


def _newton_step(sums: Sums, mean: float, needed: float) -> float:
    """How far a tangent of the evidence's logarithm puts the limit above a mean."""
    logs = log_money(sums, mean)
    most = max(logs)
    money = [math.exp(each - most) for each in logs]
    excess = most + math.log(sum(money)) - needed
    slope = sum(m * a / (1.0 + a * mean) for m, a in zip(money, SIZES, strict=True)) / sum(money)
    return excess / (sums.rounds * slope)


def _won(sums: Sums) -> list[float]:
    """Logarithm of the money of each bet, at least, were its stakes free."""
    losses, spread = sums.losses, sums.spread
    return [share + losses * each + spread * even for share, each, even in _WORTH]


@lru_cache(maxsize=4096)
def payoffs(mean: float) -> tuple[tuple[float, float, float], ...]:
    """Of each bet: its share, what a unit becomes after a loss of 0, and more per unit of loss."""
    idle = [1.0 / (1.0 + size * mean) for size in SIZES]
    return tuple((s, each, size * each) for s, each, size in zip(SHARES, idle, SIZES, strict=True))
