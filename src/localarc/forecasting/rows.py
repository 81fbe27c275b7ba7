"""Open rows: forecasts that were made, by series and time, until the outcome is known."""

from __future__ import annotations

import numpy as np

from localarc.calibrators.undo import Undo
from localarc.forecasting.columns import FINITE, Arrays, Pool
from localarc.validation import FloatArray, IntArray

NONE = -1


class OpenRows:
    """Forecasts without an outcome. Those of one series and time form a list."""

    def __init__(self, undo: Undo | None = None, **more: tuple[str, int | None]) -> None:
        self._undo = undo
        self.pool = Pool(
            {
                "round": ("i4", None),
                "series": ("i4", None),
                "step": ("i4", None),
                "same": ("i4", None),  # the next row of the same series and time
                "time": ("i8", None),
                "low": ("f8", None),  # the forecast, or its quantiles
                "high": ("f8", None),
                **more,
            },
            undo,
        )
        self._first: list[dict[int, int]] = []  # by series: time to row

    def reserve(self, series: int) -> None:
        """Make room for this number of series."""
        self._first += [{} for _ in range(series - len(self._first))]

    def add(self, series: IntArray, time: IntArray, **columns: FloatArray | IntArray) -> None:
        """Remember forecasts."""
        rows = self.pool.take(len(series))
        for name, values in {"series": series, "time": time, **columns}.items():
            self.pool[name][rows] = values
        self._link(rows, series, time)

    def _link(self, rows: IntArray, series: IntArray, time: IntArray) -> None:
        places = [*zip(series.tolist(), time.tolist(), strict=True)]
        self._note(places)
        same = []
        for row, (one, when) in zip(rows.tolist(), places, strict=True):
            first = self._first[one]
            same.append(first.get(when, NONE))
            first[when] = row
        self.pool["same"][rows] = same

    def _note(self, places: list[tuple[int, int]]) -> None:
        """These lists are about to change."""
        if self._undo is not None:
            firsts = [self._first[one].get(when, NONE) for one, when in places]
            self._undo.note(self._begin_at, places, firsts)

    def _begin_at(self, places: list[tuple[int, int]], firsts: list[int]) -> None:
        """Let lists begin with these rows."""
        for (one, when), row in zip(places, firsts, strict=True):
            if row == NONE:
                self._first[one].pop(when, None)
            else:
                self._first[one][when] = row

    def matching(self, series: IntArray, time: IntArray) -> tuple[IntArray, IntArray]:
        """Rows, each with the position of the (series, time) that it belongs to."""
        pairs = zip(series.tolist(), time.tolist(), strict=True)
        rows = np.array([self._first[one].get(when, NONE) for one, when in pairs], np.int64)
        position = np.arange(len(rows))
        found_rows, found_positions = [rows[:0]], [position[:0]]
        while (some := rows != NONE).any():
            rows, position = rows[some], position[some]
            found_rows.append(rows)
            found_positions.append(position)
            rows = self.pool["same"][rows].astype(np.int64)
        return np.concatenate(found_rows), np.concatenate(found_positions)

    def before(self, time: int) -> IntArray:
        """The rows of all times before this one."""
        used = self.pool.used_rows()
        return used[self.pool["time"][used] < time]

    def remove(self, rows: IntArray) -> None:
        """Drop rows; all rows of the same series and time must be among them."""
        series, time = self.pool["series"][rows], self.pool["time"][rows]
        places = [*{*zip(series.tolist(), time.tolist(), strict=True)}]
        self._note(places)
        for one, when in places:
            del self._first[one][when]
        self.pool.give_back(rows)

    def __len__(self) -> int:
        return self.pool.used

    def state(self) -> Arrays:
        """The open rows."""
        rows = self.pool.stored(self.pool.used_rows())
        rows["same"][:] = NONE  # the lists follow from the rows
        return rows

    def restore(self, arrays: Arrays, series: int) -> None:
        """Continue from `state`."""
        self.pool.restore(arrays)
        self._first = []
        self.reserve(series)
        self.pool.require(0, series - 1, "series")
        self.pool.require(0, 2**31, "step")
        self.pool.require(-FINITE, FINITE, "low", "high")
        if (self.pool["low"][:] > self.pool["high"][:]).any():
            raise ValueError("an open forecast has its quantiles reversed")
        rows = np.arange(self.pool.used)
        self._link(rows, self.pool["series"][rows], self.pool["time"][rows])
