"""Changes: bets against the allowed risk that start at every round, each with a little money.

The money that starts before round t is `w_t`, all of it together at most 1, so that the sum of what
all bets have made is below `1 / level` for ever with probability `1 - level` if the risk of every
round is allowed. One sum for each size of bet is enough: it takes in `w_t` and pays the round.
"""

from __future__ import annotations

import math

from localarc.monitoring.bets import SHARES, SIZES, log_money, payoffs
from localarc.monitoring.recent import Recent

_EARLY = 1000.0  # rounds; starts before round 3,000 get half of the money
_SCALE = 0.5 * math.sqrt(_EARLY)  # then the integral over all rounds is 1
MOST = 1e150  # money that no evidence needs, and whose products are finite
_LOG_MOST = math.log(MOST)


def start_money(earlier: int) -> float:
    """The money of the bets that start after `earlier` rounds; over all starts at most 1."""
    offset = earlier + 1.0 + _EARLY
    return _SCALE / (offset * math.sqrt(offset))


class ChangeDetector:
    """The money of bets against a mean risk, from all starting rounds together."""

    __slots__ = ("cap", "mean", "money", "payoffs")

    def __init__(
        self,
        mean: float,
        level: float,
        sizes: tuple[float, ...] = SIZES,
        shares: tuple[float, ...] = SHARES,
    ) -> None:
        self.mean = mean
        self.payoffs = payoffs(mean, sizes, shares)
        self.cap = 1.0 / level
        self.money = [0.0] * len(self.payoffs)

    def copy(self) -> ChangeDetector:
        """The same, to be changed on its own."""
        new = ChangeDetector.__new__(ChangeDetector)
        new.mean, new.payoffs, new.cap = self.mean, self.payoffs, self.cap
        new.money = self.money  # which is replaced
        return new

    def add(self, loss: float, earlier: int) -> bool:
        """Play the round after `earlier` others, and return whether there is evidence."""
        start = start_money(earlier)
        self.money = [
            (money + start * share) * (idle + slope * loss)
            for money, (share, idle, slope) in zip(self.money, self.payoffs, strict=False)
        ]
        total = sum(self.money)
        if total > MOST:
            self.cut(MOST)
        return total >= self.cap

    def cut(self, most: float) -> None:
        """Give money away, so that evidence which ends is soon forgotten."""
        scale = min(1.0, most / sum(self.money))
        self.money = [money * scale for money in self.money]

    def forget_all_but(self, recent: Recent, rounds: int) -> None:
        """Keep only the bets that started with a block of the recent ones among all rounds."""
        self.money = [0.0] * len(SIZES)
        for sums in recent.since_each_start():
            start = start_money(rounds - sums.rounds)
            for index, log in enumerate(log_money(sums, self.mean)):
                self.money[index] += start * math.exp(min(log, _LOG_MOST))
