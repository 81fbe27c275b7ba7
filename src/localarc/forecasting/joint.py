"""Joint bands: a path is one round, and is missed if it leaves its band at any step."""

from __future__ import annotations

import numpy as np

from localarc.calibrators.undo import Undo
from localarc.constants import TINY_UNIT
from localarc.forecasting.columns import FINITE, Arrays, Columns, named, part
from localarc.forecasting.rounds import Places, Rounds
from localarc.forecasting.rows import OpenRows
from localarc.forecasting.scale import ScoreScale
from localarc.forecasting.separate import Batch, SeparateBands
from localarc.validation import FloatArray, IntArray


class JointBands(SeparateBands):
    """One threshold per path, in units that make the scores of its steps comparable.

    The score of a path is the largest (score - mean) / unit of its steps, with the mean and unit
    that recent scores of the same series and step had when the forecast was made. Paths that were
    made before any score was known have no such unit, and are not judged.
    """

    def __init__(self, alphas: FloatArray, horizon: int, start: float = np.inf) -> None:
        undo = self.undo = Undo()
        self.rounds, self._start = Rounds(alphas, 1, start, paths=True, undo=undo), start
        self.rows = OpenRows(undo, mean=("f8", None), unit=("f8", None))
        self._shape = ScoreScale(horizon, undo)
        kinds = {"worst": ("f8", None), "left": ("i8", None), "void": ("u1", None)}
        self._paths = Columns(kinds, undo=undo)

    def reserve(self, series: int) -> None:
        """Make room for this number of series."""
        super().reserve(series)
        self._shape.reserve(series)

    def ask(self, batch: Batch) -> FloatArray:
        """Thresholds (n, levels) of new forecasts, which are open from now on."""
        places, floor = batch.places, batch.floor
        mean, unit = self._shape.look(places.series, places.step)
        series, path, length = np.unique(places.series, return_inverse=True, return_counts=True)
        lowest = np.full(len(series), np.inf)
        np.minimum.at(lowest, path, (floor - mean) / unit)
        start = np.empty(len(series), np.int64)
        start[path[places.step == 0]] = places.phase[places.step == 0]
        rounds, levels = self.rounds.ask(Places(series, np.zeros_like(series), start), lowest)
        self._paths.reserve(self.rounds.capacity)
        self._paths["worst"][rounds], self._paths["left"][rounds] = -np.inf, length
        self._paths["void"][rounds] = ~self._shape.knows(series)
        self.rows.add(
            places.series,
            batch.time,
            round=rounds[path],
            step=places.step,
            low=batch.low,
            high=batch.high,
            mean=mean,
            unit=unit,
        )
        unit = np.where(self._shape.knows(places.series), unit, float(self._start == np.inf))
        return np.maximum(mean[:, None] + unit[:, None] * levels[path], floor[:, None])

    def tell(self, rows: IntArray, scores: FloatArray) -> None:
        """Learn from the scores of open rows of one time."""
        mine, rounds = self.rows.pool, self._rounds_of(rows)
        relative = (scores - mine["mean"][rows]) / mine["unit"][rows]
        series, step = mine["series"][rows].astype(np.int64), mine["step"][rows].astype(np.int64)
        self._shape.learn(series, step, scores)
        path, which = np.unique(rounds, return_inverse=True)
        worst = self._paths["worst"][path]
        np.maximum.at(worst, which, relative)
        self._paths["worst"][path] = worst
        self._finish(rounds)

    def forget(self, rows: IntArray) -> None:
        """Close rows whose outcome will never be known, and leave their paths unjudged."""
        rounds = self._rounds_of(rows)
        self._paths["void"][rounds] = 1
        self._finish(rounds)

    def _finish(self, rounds: IntArray) -> None:
        """Judge the paths of which nothing is left."""
        rounds, told = np.unique(rounds, return_counts=True)
        self._paths["left"][rounds] -= told
        rounds = rounds[self._paths["left"][rounds] == 0]
        rounds = rounds[np.argsort(self.rounds.numbers(rounds))]
        void = self._paths["void"][rounds] > 0
        if not void.all():
            self.rounds.tell(rounds[~void], self._paths["worst"][rounds[~void]])
        if void.any():
            self.rounds.forget(rounds[void])

    def state(self, series: int) -> Arrays:
        """The arrays of the first `series` series and of all that is open."""
        return (
            super().state(series)
            | named("shape", self._shape.state(series))
            | named("paths", self._paths.stored(self.rounds.in_order()))
        )

    def restore(self, arrays: Arrays, series: int) -> None:
        """Continue from `state`."""
        super().restore(arrays, series)
        self._shape.restore(part("shape", arrays))
        self._paths.restore(part("paths", arrays))
        self.rows.pool.require(-FINITE, FINITE, "mean")
        self.rows.pool.require(TINY_UNIT, FINITE, "unit")
        self._paths.require(-np.inf, FINITE, "worst")
        self._paths.require(0, 1, "void")
        left = np.bincount(self.rows.pool["round"][:], minlength=self.rounds.pending)
        if (left != self._paths["left"][:]).any():
            raise ValueError("its paths count other open forecasts")
