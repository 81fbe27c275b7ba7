"""Separate bands: every forecast is a round of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc.calibrators.undo import Undo
from localarc.forecasting.columns import Arrays, named, part
from localarc.forecasting.rounds import Places, Rounds
from localarc.forecasting.rows import OpenRows
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True)
class Batch:
    """Forecasts that are made at one time, at most one per series and step."""

    places: Places
    time: IntArray
    low: FloatArray  # the point forecast, or the quantiles
    high: FloatArray

    @property
    def floor(self) -> FloatArray:
        """The threshold at which a band is a single point."""
        return 0.5 * (self.low - self.high)


class SeparateBands:
    """A threshold for every forecast, from bettors of its series and step."""

    def __init__(self, alphas: FloatArray, horizon: int, start: float = np.inf) -> None:
        self.undo = Undo()
        self.rounds = Rounds(alphas, horizon, start, undo=self.undo)
        self.rows = OpenRows(self.undo)

    def reserve(self, series: int) -> None:
        """Make room for this number of series."""
        self.rounds.reserve(series)
        self.rows.reserve(series)

    def ask(self, batch: Batch) -> FloatArray:
        """Thresholds (n, levels) of new forecasts, which are open from now on."""
        places = batch.places
        rounds, thresholds = self.rounds.ask(places, batch.floor)
        self.rows.add(
            places.series,
            batch.time,
            round=rounds,
            step=places.step,
            low=batch.low,
            high=batch.high,
        )
        return thresholds

    def tell(self, rows: IntArray, scores: FloatArray) -> None:
        """Learn from the scores of open rows of one time."""
        self.rounds.tell(self._rounds_of(rows), scores)

    def forget(self, rows: IntArray) -> None:
        """Close rows whose outcome will never be known."""
        self.rounds.forget(self._rounds_of(rows))

    def _rounds_of(self, rows: IntArray) -> IntArray:
        return np.asarray(self.rows.pool["round"][rows].astype(np.int64))

    @property
    def nbytes(self) -> int:
        """The size of all that is open."""
        return self.rounds.nbytes + self.rows.pool.nbytes

    def state(self, series: int) -> Arrays:
        """The arrays of the first `series` series and of all that is open."""
        rows = self.rows.state()
        in_order = self.rounds.in_order()
        place = np.empty(self.rounds.capacity, np.int64)
        place[in_order] = np.arange(len(in_order))
        rows["round"] = place[rows["round"]]
        order = np.lexsort((rows["step"], rows["round"]))
        rows = {name: array[order] for name, array in rows.items()}
        return self.rounds.state(series) | named("rows", rows)

    def restore(self, arrays: Arrays, series: int) -> None:
        """Continue from `state`."""
        self.rounds.restore(arrays)
        self.rows.restore(part("rows", arrays), series)
        self.rows.pool.require(0, self.rounds.pending - 1, "round")
