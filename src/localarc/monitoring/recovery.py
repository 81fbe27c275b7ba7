"""Recovery: bets that the risk is below the limit again, from every round since the break.

They mirror those of `change`: money grows by `(1 - a loss) / (1 - a mean)` a round. The logarithm
of `1 - a risk` is concave and falls in the risk, so that while no stretch since the break has a
mean risk below the limit, all money together stays below `1 / level` for ever with probability
`1 - level`.
"""

from __future__ import annotations

from collections.abc import Sequence

from localarc.monitoring.bets import FALL_SHARES, FALLS
from localarc.monitoring.change import ChangeDetector


class Recovery:
    """The money of these bets, and how many rounds they have been played."""

    __slots__ = ("bets", "rounds")

    def __init__(
        self, mean: float, level: float, rounds: int = 0, money: Sequence[float] | None = None
    ) -> None:
        self.bets = ChangeDetector(mean, level, FALLS, FALL_SHARES)
        self.rounds = rounds
        if money is not None:
            self.bets.money = list(money)

    def copy(self) -> Recovery:
        """The same, to be changed on its own."""
        new = Recovery.__new__(Recovery)
        new.bets, new.rounds = self.bets.copy(), self.rounds
        return new

    def add(self, loss: float) -> bool:
        """Play one more round, and return whether there is evidence."""
        self.rounds += 1
        found = self.bets.add(loss, self.rounds - 1)
        if found:  # money above that would outlast the evidence
            self.bets.cut(self.bets.cap)
        return found
