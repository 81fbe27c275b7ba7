"""Rounds of many cells whose losses are late, in NumPy: what arrived since each threshold was made.

The pending rounds of a cell are a list in order of prediction. A cell adds up all that arrives, and
a round notes the sums of its beginning; what later rounds bring is added there, too, so that the
difference is what earlier rounds have brought since. `compiled/ledger.py` has trees instead.
"""

from __future__ import annotations

import numpy as np

from localarc.betting.bettors import Bettors, Table
from localarc.validation import FloatArray, IntArray

NONE = -1


class LateRounds:
    """The lists of pending rounds, and the bettors that learn from them.

    `rounds` has the columns number, cell, earlier, later, seen, closed, arrived, bet and share;
    `cells` has newest, pending and closed.
    """

    def __init__(self, bettors: Bettors, rounds: Table, cells: Table) -> None:
        self._bettors, self._rounds, self._cells = bettors, rounds, cells

    def note(self, rows: IntArray) -> None:
        """Before thresholds are made: what is pending at their cells, which bounds the bets."""
        cell = self._rounds["cell"][rows]
        seen = self._cells["pending"][cell]
        self._bettors.restrict(cell, seen.astype(np.float64))
        self._rounds["seen"][rows], self._rounds["closed"][rows] = seen, self._cells["closed"][cell]
        self._rounds["arrived"][rows] = self._bettors.cells["arrived"][cell]

    def enter(self, rows: IntArray) -> None:
        """The rounds are pending from now on, as the newest ones of their cells."""
        cell = self._rounds["cell"][rows]
        self._cells["pending"][cell] += 1
        before = self._cells["newest"][cell]
        self._rounds["earlier"][rows] = before
        self._rounds["later"][rows] = NONE
        self._rounds["later"][before[before != NONE]] = rows[before != NONE]
        self._cells["newest"][cell] = rows

    def settle(self, rows: IntArray, missed: FloatArray) -> None:
        """Let the bettors of distinct cells learn; earlier pending rounds must not hear of it."""
        mine, cell = self._rounds, self._rounds["cell"][rows].astype(np.int64)
        seen = mine["seen"][rows].astype(np.float64)
        heard = self._cells["closed"][cell] - mine["closed"][rows]
        since = self._bettors.arrived(cell) - mine["arrived"][rows].reshape(len(rows), 4, -1)
        waiting = self._cells["pending"][cell] - 1.0
        grown = self._bettors.settle(
            *(cell, missed, mine["bet"][rows], mine["share"][rows]),
            *(seen, seen - heard, since, waiting),
        )
        self._correct_earlier(rows, grown.reshape(len(rows), -1))

    def withdraw(self, rows: IntArray) -> None:
        """Rounds of distinct cells leave without a loss: as if it had been alpha."""
        self._correct_earlier(rows, np.zeros((len(rows), 4 * len(self._bettors.alphas))))

    def _correct_earlier(self, rows: IntArray, change: FloatArray) -> None:
        """What arrives is part of what later rounds see, and not of what earlier ones do."""
        at = self._rounds["earlier"][rows]
        while (some := at != NONE).any():
            at, change = at[some], change[some]
            self._rounds["closed"][at] += 1
            self._rounds["arrived"][at] += change
            at = self._rounds["earlier"][at]

    def close(self, rows: IntArray) -> None:
        """Take rounds at distinct cells out of the lists."""
        cell = self._rounds["cell"][rows]
        earlier, later = self._rounds["earlier"][rows], self._rounds["later"][rows]
        inner = later != NONE
        self._rounds["earlier"][later[inner]] = earlier[inner]
        self._cells["newest"][cell[~inner]] = earlier[~inner]
        inner = earlier != NONE
        self._rounds["later"][earlier[inner]] = later[inner]
        self._cells["pending"][cell] -= 1
        self._cells["closed"][cell] += 1

    def waves(self, rows: IntArray) -> list[IntArray]:
        """Positions of rounds at distinct cells, such that each cell's are in order."""
        cell = self._rounds["cell"][rows]
        order = np.lexsort((self._rounds["number"][rows], cell))
        sorted_cells = cell[order]
        first = np.ones(len(rows), bool)
        first[1:] = sorted_cells[1:] != sorted_cells[:-1]
        starts = np.flatnonzero(first)
        rank = np.arange(len(rows)) - starts[np.cumsum(first) - 1]
        return [order[rank == k] for k in range(int(rank.max(initial=-1)) + 1)]

    def relink(self, used: int) -> None:
        """Build the lists anew, from as many rounds in order of prediction."""
        cell = self._rounds["cell"][:used]
        order = np.argsort(cell, kind="stable")
        same = cell[order][1:] == cell[order][:-1]
        for name in ("earlier", "later"):
            self._rounds[name][:] = NONE
        self._rounds["earlier"][order[1:][same]] = order[:-1][same]
        self._rounds["later"][order[:-1][same]] = order[1:][same]
        self._cells["newest"][:] = NONE
        self._cells["newest"][cell] = np.arange(len(cell))  # the last one of a cell stays
