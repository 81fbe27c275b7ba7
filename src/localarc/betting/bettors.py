"""Bettors in NumPy: one pair for each of many cells, at several levels of the target.

Each cell is an instance of theorem E of docs/guarantees.md with a single node of weight 1; bands
have one for every series and step. Names follow that page: gain G, cost W, and what was pending
when a threshold was made. `compiled/bettors.py` has the same for overlapping nodes.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np

from localarc.betting.gain import BETAS, budget, largest_bet, most_gain
from localarc.constants import BETS, LATE_FACTOR, LATE_REACH, LATE_RESTART, SQUARE, STAKE_ALL
from localarc.validation import FloatArray, IntArray

LARGEST_EXPONENT = 300.0  # of an exponential in a bet, which stays there: theorem E allows for that
UP_STEP, UP_COST, DOWN_STEP, DOWN_COST = range(4)  # what is summed up of arrived losses

_SUMS = (
    *("up gain", "up cost", "down gain", "down cost"),
    *("excess", "misses", "lost", "paid", "staked"),
)
_FINITE = sys.float_info.max


class Table(Protocol):
    """Arrays by name, as in a table."""

    def __getitem__(self, name: str) -> Any: ...

    def require(self, low: float, high: float, *names: str) -> None:
        """Raise ValueError unless all values of these columns lie in [low, high]."""


def cell_columns(levels: int) -> dict[str, tuple[str, int | None]]:
    """The columns of a cell, by name: type, and entries per row; None for a plain number."""
    sums: dict[str, tuple[str, int | None]] = dict.fromkeys(_SUMS, ("f8", levels))
    return sums | {"arrived": ("f8", 4 * levels), "visits": ("f8", None), "most": ("f8", None)}


class Bettors:
    """The sums of every cell, by level, and the bets that follow: `cells` has `cell_columns`."""

    def __init__(self, alphas: FloatArray, cells: Table) -> None:
        self.alphas, self.cells = alphas, cells
        self.top = np.maximum(alphas, 1.0 - alphas)
        self._up_drop = alphas / self.top
        self._down_drop = (1.0 - alphas) / self.top

    def restrict(self, cell: IntArray, pending: FloatArray) -> None:
        """Before thresholds are made: what is pending at a cell bounds its bets, for good."""
        rounded = np.exp2(np.ceil(np.log2(pending + 1.0))) - 1.0
        self.cells["most"][cell] = np.maximum(self.cells["most"][cell], rounded)

    def bets(self, cell: IntArray) -> tuple[FloatArray, FloatArray]:
        """(n, levels): what is added to the threshold in units, and what is taken away."""
        sums, most = self.cells, self.cells["most"][cell][:, None]
        up = wealth(sums["up gain"][cell], sums["up cost"][cell], largest_bet(most, self._up_drop))
        down = wealth(
            sums["down gain"][cell], sums["down cost"][cell], largest_bet(most, self._down_drop)
        )
        return 0.5 * STAKE_ALL * up, 0.5 * STAKE_ALL * down

    def arrived(self, cell: IntArray) -> FloatArray:
        """(n, 4, levels): steps and costs of all losses so far, up and down."""
        return np.asarray(self.cells["arrived"][cell]).reshape(len(cell), 4, -1)

    def settle(
        self,
        cell: IntArray,
        missed: FloatArray,
        bet: FloatArray,
        share: FloatArray,
        seen: FloatArray,
        left: FloatArray,
        since: FloatArray,
        waiting: FloatArray,
    ) -> FloatArray:
        """Learn from misses (n, levels) at distinct cells; returns what `arrived` grew by.

        `bet` and `share` are what the threshold was moved by, in units, and the part of the down
        bet in it. `seen` counts the rounds pending when it was made, `left` those that still are,
        `since` (n, 4, levels) what has arrived of them; `waiting` counts rounds pending now.
        """
        sums = self.cells
        z = (missed - self.alphas) / self.top
        up, down = z, -share * z
        up_cost = late_cost(up, self._up_drop, seen, left, since[:, UP_STEP], since[:, UP_COST])
        down_cost = late_cost(
            down, self._down_drop, seen, left, since[:, DOWN_STEP], since[:, DOWN_COST]
        )
        sums["visits"][cell] += 1.0
        sums["misses"][cell] += missed
        sums["excess"][cell] += z
        sums["paid"][cell] += z * bet
        sums["lost"][cell] += (1.0 - share) * np.maximum(-z, 0.0)
        sums["down gain"][cell] += down
        sums["down cost"][cell] += down_cost
        self._step_up(cell, up, up_cost, waiting)
        grown = np.stack([up, up_cost, down, down_cost], axis=1)
        sums["arrived"][cell] += grown.reshape(len(cell), -1)
        return grown

    def _step_up(
        self, cell: IntArray, step: FloatArray, cost: FloatArray, waiting: FloatArray
    ) -> None:
        """The up side begins again, at a price, when it has lost everything."""
        gain = self.cells["up gain"][cell] + step
        again = gain < 0.0
        self.cells["up gain"][cell] = np.where(again, 0.0, gain)
        self.cells["up cost"][cell] = np.where(again, 0.0, self.cells["up cost"][cell] + cost)
        price = 0.5 * STAKE_ALL * np.where(waiting > 0.0, LATE_RESTART, 1.0)
        self.cells["staked"][cell] += again * price[:, None]

    def most_gains(self, cells: slice) -> tuple[FloatArray, FloatArray]:
        """(n, levels): the largest sums of z, up and down, that theorem E allows.

        A of the theorem is what the bets were granted in fact, so nothing is assumed.
        """
        sums, most = self.cells, self.cells["most"][cells][:, None]
        granted = STAKE_ALL + sums["staked"][cells] + sums["paid"][cells]
        most_won = budget(granted, STAKE_ALL, 2.0, np.exp(LARGEST_EXPONENT))
        up = most_gain(most_won, sums["up cost"][cells], largest_bet(most, self._up_drop))
        down = most_gain(most_won, sums["down cost"][cells], largest_bet(most, self._down_drop))
        return up, down + sums["lost"][cells]

    def check(self) -> None:
        """Raise ValueError unless the sums of all cells make sense."""
        self.cells.require(-_FINITE, _FINITE, "down gain", "excess", "paid", "arrived")
        self.cells.require(0.0, _FINITE, "up gain", "up cost", "down cost", "lost", "staked")
        self.cells.require(0.0, _FINITE, "misses", "visits", "most")
        visits = self.cells["visits"][:, None]
        misses, excess = self.cells["misses"][:], self.cells["excess"][:]
        if (misses > visits).any() or (abs(excess) > visits).any():
            raise ValueError("a cell has more misses than rounds")


def wealth(gain: FloatArray, cost: FloatArray, largest: FloatArray) -> FloatArray:
    """H(G, W) = (1/K) sum_k beta_k exp(beta_k G - beta_k^2 W), over the bets up to `largest`."""
    power = BETAS * (gain[..., None] - BETAS * cost[..., None])
    terms = BETAS * np.exp(np.minimum(power, LARGEST_EXPONENT)) * (largest[..., None] >= BETAS)
    return np.asarray(terms.sum(axis=-1) / BETS)


def late_cost(
    y: FloatArray,
    drop: FloatArray,
    seen: FloatArray,
    left: FloatArray,
    arrived: FloatArray,
    spent: FloatArray,
) -> FloatArray:
    """q: what a step y costs, given what was pending when its threshold was made."""
    seen, left = seen[:, None], left[:, None]
    gained = SQUARE * y * y + y * np.clip(arrived + left, 0.0, seen)
    behind = largest_bet(seen, drop) * spent - arrived + LATE_REACH * drop * left
    fell = LATE_FACTOR * np.abs(y) * (np.abs(y) + np.clip(behind, 0.0, LATE_REACH * drop * seen))
    late = np.where(y >= 0.0, gained, fell)
    return np.asarray(np.where(seen > 0.0, late, SQUARE * y * y))
