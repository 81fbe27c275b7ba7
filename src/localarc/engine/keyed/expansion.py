"""Exact expansions of many streams, one row each, in arrays that grow as rows and terms come."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from localarc.engine.exact.expansion import FOREVER
from localarc.engine.kernels import Profile
from localarc.engine.keyed import loops as loops
from localarc.engine.numba_tools import entry
from localarc.engine.states import require
from localarc.engine.tiles import TILE, FloatArray, IntArray, plain, specialise

PARTS = ("centres", "weights", "joined", "folded")


class KeyedExpansions:
    """f of every row, as `ExactExpansion` would keep it for each, to the bit."""

    def __init__(
        self,
        profile: Profile,
        dimensions: int,
        scale: float,
        window: int | None = None,
        archive: bool = True,
    ) -> None:
        self.profile = profile
        self.dimensions = dimensions
        kept = archive or window is None
        self._rules = scale, FOREVER if window is None else window, kept
        self._scratch = np.zeros((dimensions, TILE)), np.zeros(TILE), np.zeros(TILE)
        self._terms = np.empty((0, loops.CHUNK, dimensions + 3))
        self._following = np.empty(0, np.int64)
        self._wholes = np.empty((0, 6), np.int64)
        self._fading = np.empty((0, 2))
        self._room = np.array([0, -1])

    @property
    def _store(self) -> tuple[Any, ...]:
        return self._terms, self._following, self._wholes, self._fading, self._room

    def make_room(self, rows: int, events: int) -> None:
        """Have so many rows, the new ones empty, and chunks for so many events."""
        here = len(self._wholes)
        if rows > here:
            size = max(rows, 2 * here, 16)
            self._wholes = _grown(self._wholes, size)
            self._fading = _grown(self._fading, size)
            self._fading[here:, loops.FADE] = 1.0
        needed = int(self._room[loops.HANDED_OUT]) + events
        if needed > len(self._following):
            size = max(needed, 2 * len(self._following))
            self._terms = _grown(self._terms, size)
            self._following = _grown(self._following, size)

    def learn(self, rows: IntArray, points: FloatArray, decays: Any, pushes: Any) -> None:
        """Eq. (kernel_update) for each event, in order; there must be room."""
        _learn(self._store, rows, points, decays, pushes, self._rules)

    def evaluate(self, rows: IntArray, points: FloatArray, clip: float) -> FloatArray:
        """f, clipped, at each point; 0 for a row of -1."""
        values = np.empty(len(rows))
        known = np.where(rows < len(self._wholes), rows, -1)
        evaluate = specialise(loops.evaluate, self.profile, self.dimensions, loops.value_of)
        parameter = self.profile.parameter
        evaluate(self._store, known, points, parameter, clip, self._scratch, values)
        return values

    def play(
        self,
        traces: FloatArray,
        rows: IntArray,
        points: FloatArray,
        rates: FloatArray,
        decays: FloatArray,
        alpha: float,
        clip: float,
        curves: Any,
    ) -> tuple[FloatArray, FloatArray]:
        """Threshold, loss and update for each event, in order; there must be room."""
        thresholds, losses = np.empty((2, len(rows)))
        play = specialise(loops.play, self.profile, self.dimensions, loops.value_of)
        play(
            traces, self._store, rows, points, rates, decays,
            (alpha, clip, self.profile.parameter), self._rules,
            (plain(curves.breakpoints), plain(curves.losses), _whole(curves.offsets)),
            self._scratch, thresholds, losses,
        )  # fmt: skip
        return thresholds, losses

    def rows(self) -> IntArray:
        """The rows that have learnt anything."""
        return np.flatnonzero(self._wholes[:, loops.ROUNDS])

    def __contains__(self, row: int) -> bool:
        return row < len(self._wholes) and bool(self._wholes[row, loops.ROUNDS])

    def get(self, rows: IntArray) -> tuple[IntArray, dict[str, Any]]:
        """How many terms each row has, and what `ExactExpansion.arrays` would give, end to end."""
        counts = self._wholes[rows, loops.COUNT]
        starts = np.concatenate(([0], np.cumsum(counts)))
        values = np.empty((starts[-1], self.dimensions + 3))
        _unload(self._store, rows, starts, values)
        d = self.dimensions
        return counts, {
            "centres": values[:, :d],
            "weights": values[:, d],
            "joined": values[:, d + 1],
            "folded": values[:, d + 2],
            "first": self._wholes[rows, loops.FIRST],
            "rounds": self._wholes[rows, loops.ROUNDS],
            "fade": self._fading[rows, loops.FADE],
            "clock": self._fading[rows, loops.CLOCK],
        }

    def put(self, rows: IntArray, counts: IntArray, arrays: Mapping[str, Any]) -> None:
        """Take over what `get` gave, in place of what the rows hold."""
        first = arrays["first"]
        require(bool((rows >= 0).all()), "it has rows below 0")
        require(bool(((first >= 0) & (first <= counts)).all()), "windows begin beyond their terms")
        chunks = int((-(-counts // loops.CHUNK)).sum())
        self.make_room(int(rows.max(initial=-1)) + 1, chunks)
        for row in rows[self._wholes[rows, loops.COUNT] > 0].tolist():
            self.clear(row)
        self._wholes[rows, loops.FIRST] = first
        self._wholes[rows, loops.COUNT] = counts
        self._wholes[rows, loops.ROUNDS] = arrays["rounds"]
        self._fading[rows, loops.FADE] = arrays["fade"]
        self._fading[rows, loops.CLOCK] = arrays["clock"]
        starts = np.concatenate(([0], np.cumsum(counts)))
        parts = [np.asarray(arrays[name]).reshape(starts[-1], -1) for name in PARTS]
        values = np.ascontiguousarray(np.concatenate(parts, axis=1), np.float64)
        _load(self._store, rows, starts, values)

    def keep(self, rows: IntArray) -> None:
        """Forget all rows but these, which move together."""
        gone = np.delete(np.arange(len(self._wholes)), rows[rows < len(self._wholes)])
        for row in gone.tolist():
            self.clear(row)
        self.make_room(int(rows.max(initial=-1)) + 1, 0)
        self._wholes, self._fading = self._wholes[rows], self._fading[rows]

    def clear(self, row: int) -> None:
        """Forget a row."""
        if row < len(self._wholes):
            _clear(self._store, row)


def _grown(array: Any, size: int) -> Any:
    grown = np.zeros((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def _whole(array: Any) -> IntArray:
    return np.require(array, np.int64, ["C", "W"])


_learn = entry(loops.learn)
_unload = entry(loops.unload)
_load = entry(loops.load)
_clear = entry(loops.clear)
