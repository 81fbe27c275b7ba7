"""Open rounds: thresholds that were issued for a series and step, and what they learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc.betting.bettors import Bettors, cell_columns
from localarc.betting.late_rounds import NONE, LateRounds
from localarc.calibrators.undo import Undo
from localarc.constants import WARM
from localarc.forecasting.columns import FINITE, Arrays, Columns, Pool, named, part
from localarc.forecasting.offsets import HOURS, Offsets
from localarc.forecasting.scale import ScoreScale
from localarc.forecasting.sizes import SizeSample
from localarc.validation import FloatArray, IntArray

FREE, AT_FLOOR, BLIND = range(3)  # learnt; held up by the floor; made before any score was known


@dataclass(frozen=True)
class Places:
    """The series, step and phase (hour of the week) of n rounds, as integers."""

    series: IntArray
    step: IntArray
    phase: IntArray


class Rounds:
    """Thresholds for several levels at once, whose scores arrive late and in any order.

    threshold = mean + unit (offsets + bets), at least the floor and the threshold one level below.
    Before enough scores are known it is `start`. If that is infinite, the round is uninformed: it
    counts as pending, but its loss is not learned from, as if it were alpha.
    """

    def __init__(
        self,
        alphas: FloatArray,
        steps: int,
        start: float = np.inf,
        paths: bool = False,
        undo: Undo | None = None,
    ) -> None:
        self.alphas, self.steps, self._start = alphas, steps, start
        few = min(1.0 / float(alphas.min()) - 1.0, WARM) - 0.5  # too few for a conformal quantile
        self._needed = few if start == np.inf else 0.0
        self.uninformed = 0  # how many of these have got their score
        self._undo = undo
        self._paths = paths  # whether scores have a unit already, and pending rounds overlap
        self.scale = ScoreScale(steps, undo)
        self.offsets = Offsets(alphas, steps, undo)
        levels = len(alphas)
        self._sums = Columns(cell_columns(levels), undo=undo)
        self.bettors = Bettors(alphas, self._sums)
        counts = dict.fromkeys(("newest", "pending", "closed"), ("i8", None))
        self._cells = Columns(counts, undo=undo)
        self._open = Pool(
            {
                "number": ("i8", None),
                "cell": ("i4", None),
                "phase": ("i2", None),
                "earlier": ("i4", None),  # the pending round before this one at its cell
                "later": ("i4", None),
                "seen": ("i4", None),  # how many were pending at the cell
                "closed": ("i4", None),  # losses that had arrived there, later rounds' not counted
                "arrived": ("f8", 4 * levels),  # what they summed up to
                "threshold": ("f8", levels),
                "bet": ("f8", levels),
                "share": ("f8", levels),
                "basis": ("u1", levels),  # of the threshold: FREE, AT_FLOOR or BLIND
            },
            undo,
        )
        self._late = LateRounds(self.bettors, self._open, self._cells)
        self._issued = 0
        self.sizes = SizeSample(levels)
        self.by_phase = np.zeros((7 * HOURS, 1 + levels))  # rounds and misses, by hour of the week

    def _change(self, **values: Any) -> None:
        """Set attributes, so that it can be undone."""
        if self._undo is not None:
            self._undo.note(vars(self).update, {name: vars(self)[name] for name in values})
        vars(self).update(values)

    def reserve(self, series: int) -> None:
        """Make room for this number of series."""
        self.scale.reserve(series)
        self.offsets.reserve(series)
        self._sums.reserve(series * self.steps)
        known = self._cells.rows
        self._cells.reserve(series * self.steps)
        self._cells["newest"][known:] = NONE

    # ---- thresholds --------------------------------------------------------------------------

    def ask(self, places: Places, floor: FloatArray) -> tuple[IntArray, FloatArray]:
        """Numbers of new rounds at distinct cells, and their thresholds (n, levels)."""
        cell = places.series * self.steps + places.step
        rows, new = self._open.take(len(cell)), self._open
        new["cell"][rows], new["phase"][rows] = cell, places.phase
        new["number"][rows] = self._issued + np.arange(len(rows))
        self._late.note(rows)
        self._play(rows, places, cell, floor)
        self._change(_issued=self._issued + len(rows))
        self._late.enter(rows)
        return rows, self._open["threshold"][rows]

    def _play(self, rows: IntArray, places: Places, cell: IntArray, floor: FloatArray) -> None:
        """Threshold, bet, share of the down bet, and whether the floor holds the base up."""
        mean, unit = self.scale.look(places.series, places.step)
        offsets = self.offsets.at(self.offsets.nodes(places.series, places.step, places.phase))
        up, down = self.bettors.bets(cell)
        known = self.scale.knows(places.series, self._needed)
        mean = np.where(known, mean, self._start)
        unit = np.where(known, unit, 1.0 if self._paths else 0.0)
        for level in range(len(self.alphas)):
            free = mean + unit * offsets[:, level]
            base = np.maximum(free, floor)
            bet, share = up[:, level] - down[:, level], np.ones(len(cell))
            low = base + unit * bet < floor
            bet[low] = (floor[low] - base[low]) / unit[low]
            share[low] = np.clip((up[low, level] - bet[low]) / down[low, level], 0.0, 1.0)
            self._open["basis"][rows, level] = np.where(known, free < floor, BLIND)
            floor = np.where(low, floor, base + unit * bet)  # the next level's floor
            self._open["threshold"][rows, level] = floor
            self._open["bet"][rows, level] = bet
            self._open["share"][rows, level] = share

    # ---- what became known -------------------------------------------------------------------

    def tell(self, rows: IntArray, scores: FloatArray) -> None:
        """Learn from the scores of pending rounds that became known at one time."""
        places = self.places(rows)
        missed = (scores[:, None] > self._open["threshold"][rows]).astype(np.float64)
        informed = np.isfinite(self._open["threshold"][rows, 0])
        counts = np.insert(missed[informed], 0, 1.0, axis=1)
        by_phase = self.by_phase.copy()
        np.add.at(by_phase, places.phase[informed], counts)
        sizes = self.sizes.add(places.series, scores, self._open["threshold"][rows])
        uninformed = self.uninformed + int((~informed).sum())
        self._change(by_phase=by_phase, uninformed=uninformed, sizes=sizes)
        self._teach_base(rows, places, missed, scores)
        for wave in self._late.waves(rows):
            known, unknown = wave[informed[wave]], wave[~informed[wave]]
            if len(known):
                self._late.settle(rows[known], missed[known])
            self._late.withdraw(rows[unknown])
            self._late.close(rows[wave])
        self._open.give_back(rows)

    def forget(self, rows: IntArray) -> None:
        """Close rounds whose scores will never be known: they count as a loss of alpha."""
        for wave in self._late.waves(rows):
            self._late.withdraw(rows[wave])
            self._late.close(rows[wave])
        self._open.give_back(rows)

    def places(self, rows: IntArray) -> Places:
        """Where pending rounds are."""
        series, step = np.divmod(self._open["cell"][rows].astype(np.int64), self.steps)
        return Places(series, step, self._open["phase"][rows].astype(np.int64))

    def _teach_base(
        self, rows: IntArray, places: Places, missed: FloatArray, scores: FloatArray
    ) -> None:
        excess, basis = missed - self.alphas, self._open["basis"][rows]
        excess[(basis == BLIND) | ((basis == AT_FLOOR) & (excess < 0.0))] = 0.0
        overlap = 1.0 + self._open["seen"][rows]
        nodes = self.offsets.nodes(places.series, places.step, places.phase)
        self.offsets.learn(nodes, excess / np.sqrt(overlap)[:, None])
        share = 1.0 / overlap if self._paths else None
        self.scale.learn(places.series, places.step, scores, share)

    # ---- what is known -----------------------------------------------------------------------

    def numbers(self, rows: IntArray) -> IntArray:
        """The order in which pending rounds were issued."""
        return np.asarray(self._open["number"][rows])

    @property
    def capacity(self) -> int:
        """One more than the largest number that a pending round can have."""
        return self._open.rows

    @property
    def pending(self) -> int:
        """How many rounds are pending."""
        return self._open.used

    @property
    def nbytes(self) -> int:
        """The size of the pending rounds."""
        return self._open.nbytes

    def state(self, series: int) -> Arrays:
        """The arrays of the first `series` series and all pending rounds, in prediction order."""
        cells = series * self.steps
        counts, rounds = self._cells.stored(slice(cells)), self._open.stored(self.in_order())
        for name in ("earlier", "later"):
            rounds[name][:] = NONE  # the lists follow from the order
        counts["newest"][:] = NONE
        apart: Arrays = {"uninformed": np.array([self.uninformed])} if self.uninformed else {}
        apart |= {"sizes": self.sizes.rows.copy()} if len(self.sizes.rows) else {}
        return (
            {"issued": np.array([self._issued]), "by phase": self.by_phase.copy()}
            | apart
            | named("scale", self.scale.state(series))
            | named("offsets", self.offsets.state(series))
            | named("bettors", self._sums.stored(slice(cells)))
            | named("cells", counts)
            | named("open", rounds)
        )

    def restore(self, arrays: Arrays) -> None:
        """Continue from `state`; the pending rounds are then rows 0, 1, ..."""
        self._issued = int(arrays["issued"][0])
        if "by phase" in arrays:  # older states do not count hours
            found = arrays["by phase"]
            if found.shape != self.by_phase.shape:
                raise ValueError("its counts by hour have other levels")
            if not ((found >= 0.0) & (found <= found[:, :1]) & (found <= FINITE)).all():
                raise ValueError("its counts by hour make no sense")
            self.by_phase = found.copy()
        self.uninformed = int(arrays["uninformed"][0]) if "uninformed" in arrays else 0
        if self.uninformed < 0:
            raise ValueError("it counts fewer than no rounds")
        if "sizes" in arrays:  # older states have no sample
            self.sizes = self.sizes.restore(arrays["sizes"])
        self.scale.restore(part("scale", arrays))
        self.offsets.restore(part("offsets", arrays))
        self._sums.restore(part("bettors", arrays))
        self.bettors.check()
        self._cells.restore(part("cells", arrays))
        self._open.restore(part("open", arrays))
        self._check()
        self._late.relink(self._open.used)

    def _check(self) -> None:
        """Raise ValueError unless the pending rounds make sense, and are those that cells count."""
        mine, cells, most = self._open, self._cells, 2**31
        mine.require(0, self._issued - 1, "number")
        mine.require(0, cells.rows - 1, "cell")
        mine.require(0, 7 * HOURS - 1, "phase")
        mine.require(0, most, "seen", "closed")
        mine.require(-FINITE, FINITE, "arrived", "bet")
        mine.require(-FINITE, np.inf, "threshold")
        mine.require(0.0, 1.0, "share")
        mine.require(FREE, BLIND, "basis")
        cells.require(0, most, "pending", "closed")
        if (np.diff(mine["number"][:]) <= 0).any():
            raise ValueError("its pending rounds are not in order")
        if (np.bincount(mine["cell"][:], minlength=cells.rows) != cells["pending"][:]).any():
            raise ValueError("its cells count other pending rounds")

    def in_order(self) -> IntArray:
        """The pending rounds in order of prediction."""
        used = self._open.used_rows()
        return used[np.argsort(self._open["number"][used])]
