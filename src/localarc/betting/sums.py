"""The running sums of a calibrator with bettors, and what theorem E makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from localarc.betting.gain import budget, largest_bet, most_gain
from localarc.constants import LARGEST_TERM
from localarc.engine.auto import layout
from localarc.guarantees.bounds import Side
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from localarc.engine.auto.engine import AutoEngine


class Columns(NamedTuple):
    """Where the numbers of one side are: of all rounds, and of a node."""

    drop: int  # the largest step down
    lost: int  # what limits kept from the bets
    cost: int  # of a node


_COLUMNS: dict[Side, Columns] = {
    "above": Columns(layout.DROP_UP, layout.LOST_UP, layout.UP_COST),
    "below": Columns(layout.DROP_DOWN, layout.LOST_DOWN, layout.DOWN_COST),
}


@dataclass(frozen=True)
class Sums:
    """The running sums of a calibrator, at one moment."""

    numbers: FloatArray
    columns: int  # nodes per round, at most
    highest_score: float | None = None  # it costs at most alpha, where no ceiling is stated

    @classmethod
    def of(cls, engine: AutoEngine, highest_score: float | None = None) -> Self:
        """The sums of an engine as they are now; the largest score, if it is stated."""
        return cls(engine.numbers.copy(), engine.columns, highest_score)

    def __getitem__(self, index: int) -> float:
        return float(self.numbers[index])

    @property
    def rounds(self) -> float:
        """The rounds that the promise is about: those whose threshold followed from something."""
        return self[layout.ROUNDS] - self[layout.UNINFORMED]

    @property
    def loss_sum(self) -> float:
        """The sum of their losses."""
        return self[layout.LOSS_SUM] - self[layout.UNINFORMED_LOSSES]

    @property
    def two_sided(self) -> bool:
        """Whether there are bets on too few losses."""
        return bool(self[layout.TWO_SIDED])

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides of the target on which there are bets."""
        return ("above", "below") if self.two_sided else ("above",)

    @property
    def side(self) -> Side:
        """The side of what is promised about all rounds."""
        return "both" if self.two_sided else "above"

    @property
    def ceiling(self) -> float:
        """A threshold that costs at most alpha: stated, or the largest score."""
        if self[layout.CEILING] < math.inf:
            return self[layout.CEILING]
        if self.highest_score is not None:
            return self.highest_score
        return self[layout.HIGHEST] if self[layout.SCORES] else math.nan

    @property
    def granted(self) -> float:
        """A of theorem E: stakes, and what the limits allow the bets to lose."""
        fixed = self[layout.STAKED] + self[layout.GRANTED]
        if self[layout.UP_INVERSE] == 0.0:
            return fixed
        return fixed + self.ceiling * self[layout.UP_INVERSE] - self[layout.UP_BASE]

    @property
    def paid(self) -> float:
        """What the bets were granted in fact: at most A, without any assumption."""
        return self[layout.STAKED] + self[layout.PAID]

    def drop(self, side: Side) -> float:
        """The largest step down of a side."""
        return self[_COLUMNS[side].drop]

    def lost(self, side: Side) -> float:
        """What limits kept from the bets of a side."""
        return self[_COLUMNS[side].lost]

    def largest_deviation(self, side: Side) -> float:
        """How far a mean loss can be on one side of the target: losses lie in [0, B]."""
        alpha = self[layout.ALPHA]
        return self[layout.BOUND] - alpha if side == "above" else alpha

    def most_gain(
        self, node: FloatArray, stake: float, side: Side, total: float, more_cost: float = 0.0
    ) -> float:
        """The largest gain of a node that theorem E allows if the bets were granted `total`.

        `more_cost` is what later steps will cost, beyond those so far.
        """
        cost = float(node[_COLUMNS[side].cost]) + more_cost
        largest = largest_bet(float(node[layout.MOST_WEIGHT]), self.drop(side))
        return float(most_gain(self.budget(stake, total), cost, largest))

    def budget(self, stake: float, total: float) -> FloatArray:
        """Lambda of a node."""
        return budget(total, stake, 2.0 if self.two_sided else 1.0, LARGEST_TERM)

    def excess(self, node: FloatArray) -> float:
        """The weighted sum of `L_t - alpha` at a node."""
        return self[layout.TOP] * float(node[layout.EXCESS])

    def deviation(self, node: FloatArray) -> float:
        """How far the mean loss at a node is above the target; NaN before the first."""
        weight = float(node[layout.VISITS])
        return self.excess(node) / weight if weight else math.nan
