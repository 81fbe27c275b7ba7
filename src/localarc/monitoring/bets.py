"""Bets: money grows by `(1 + a loss) / (1 + a mean)` a round, and hardly if the mean holds.

Losses lie in [0, 1]. For a fixed size `a` of the bet, the product over rounds divided by the same
product with conditional means in place of losses is a martingale, and by the concavity of the
logarithm that product of means is at most `(1 + a mean)^rounds` with their mean. Hence money of
`1 / level` refutes a mean risk, at all rounds at once, with an error of at most `level`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import add
from typing import NamedTuple

SIZES = (0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
"""Sizes of the bets: the odds of a loss of 1, relative to those allowed, are best less one."""

SHARES = tuple(part / 32 for part in (1, 2, 4, 8, 8, 4, 2, 2, 1))
"""The part of the money on each bet; rises of a fifth to a half are found first."""

FALLS = (-0.1, -0.2, -0.4, -0.8)
"""Sizes of the bets that losses are rarer than that; `-1` would be lost with the first loss."""

FALL_SHARES = (0.125, 0.5, 0.25, 0.125)
"""The part of the money on each; falls by a sixth to a third are found first."""

_GROWTH = [math.log1p(size) for size in SIZES]  # logarithms of 1 + a
_LOG_SHARES = tuple(map(math.log, SHARES))
_STEPS = 30  # of Newton's method; five are usual
_NEGLIGIBLE = 1e-12


class Tally:
    """What the bets won with some rounds: exact, with one number per bet."""

    __slots__ = ("losses", "rounds", "won")

    def __init__(
        self, rounds: int = 0, losses: float = 0.0, won: Sequence[float] = _LOG_SHARES
    ) -> None:
        self.rounds = rounds
        self.losses = losses
        self.won = array("d", won)  # logarithms of the shares times products of 1 + a loss

    def copy(self) -> Tally:
        """The same, to be changed on its own."""
        new = Tally.__new__(Tally)
        new.rounds, new.losses, new.won = self.rounds, self.losses, self.won  # which is replaced
        return new

    def add(self, loss: float) -> None:
        """Count one more round."""
        self.rounds += 1
        if loss > 0.0:
            self.losses += loss
            self.won = array("d", self._won_with(loss))

    def _won_with(self, loss: float) -> list[float]:
        """What the bets have won after one more loss."""
        if loss == 1.0:
            return list(map(add, self.won, _GROWTH))
        log1p = math.log1p
        return [won + log1p(a * loss) for won, a in zip(self.won, SIZES, strict=False)]


class Sums(NamedTuple):
    """Three sums over some rounds that bound what the bets won."""

    rounds: int = 0
    losses: float = 0.0
    spread: float = 0.0  # the sum of loss (1 - loss): zero for losses of 0 and 1

    @property
    def won(self) -> list[float]:
        """What a `Tally` of these rounds has at least; the same if all losses are 0 or 1."""
        return [
            share + self.losses * loss + self.spread * spread
            for share, (loss, spread) in zip(_LOG_SHARES, _WORTH, strict=True)
        ]


def _worth(size: float) -> tuple[float, float]:
    """What a unit of losses and one of spread add to the logarithm of a bet's money at least.

    `log(1 + a x) >= x log(1 + a) + x (1 - x) (log(1 + a) - a / (1 + a))` on [0, 1], with equality
    at both ends: the logarithm's third derivative is positive, so that its second divided
    difference at (0, x, 1) rises in x.
    """
    growth = math.log1p(size)
    return growth, growth - size / (1.0 + size)


_WORTH = tuple(map(_worth, SIZES))


def log_money(played: Tally | Sums, mean: float) -> list[float]:
    """Logarithm of what each bet has made of its share against a mean risk."""
    rounds = played.rounds
    return [won - rounds * math.log1p(a * mean) for won, a in zip(played.won, SIZES, strict=True)]


def log_evidence(played: Tally | Sums, mean: float) -> float:
    """Logarithm of all money together against a mean risk; 0 if no bet has gained."""
    if played.losses <= played.rounds * mean:
        return 0.0
    logs = log_money(played, mean)
    most = max(logs)
    return most + math.log(sum(math.exp(each - most) for each in logs))


def lower_limit(played: Tally | Sums, needed: float) -> float:
    """The largest mean risk against which the logarithm of the evidence reaches `needed` > 0.

    That logarithm is convex in the mean and falls, so that Newton's steps stay below the limit. The
    first point is the limit of the best single bet.
    """
    if not played.rounds:
        return 0.0
    gains = [(won - needed) / played.rounds for won in played.won]
    single = (math.expm1(gain) / a for gain, a in zip(gains, SIZES, strict=True))
    limit = max(0.0, *single)
    for _ in range(_STEPS):
        step = _newton_step(played, limit, needed)
        if step <= _NEGLIGIBLE * limit:
            break
        limit += step
    return limit


def _newton_step(played: Tally | Sums, mean: float, needed: float) -> float:
    """How far a tangent of the evidence's logarithm puts the limit above a mean."""
    logs = log_money(played, mean)
    most = max(logs)
    money = [math.exp(each - most) for each in logs]
    excess = most + math.log(sum(money)) - needed
    slope = sum(m * a / (1.0 + a * mean) for m, a in zip(money, SIZES, strict=True)) / sum(money)
    return excess / (played.rounds * slope)


@lru_cache(maxsize=4096)
def payoffs(
    mean: float, sizes: tuple[float, ...] = SIZES, shares: tuple[float, ...] = SHARES
) -> tuple[tuple[float, float, float], ...]:
    """Of each bet: its share, what a unit becomes after a loss of 0, and more per unit of loss."""
    idle = [1.0 / (1.0 + size * mean) for size in sizes]
    return tuple((s, each, size * each) for s, each, size in zip(shares, idle, sizes, strict=True))
