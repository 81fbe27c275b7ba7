"""Exact expansions of many streams, one row each, in arrays that grow with rows and terms."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from localarc.engine.kernels import Profile
from localarc.engine.keyed import loops
from localarc.engine.numba_tools import compile_entry
from localarc.engine.step import NO_WINDOW, require
from localarc.engine.tiles import TILE, FloatArray, IntArray, specialise

PARTS = ("centres", "weights", "joined", "folded")


class KeyedExpansions:
    """f of every row, bit for bit as a separate `ExactExpansion` would hold it."""

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
        self._rules = scale, NO_WINDOW if window is None else window, kept
        self._scratch = np.zeros((dimensions, TILE)), np.zeros(TILE), np.zeros(TILE)
        self._terms = np.empty((0, loops.CHUNK, dimensions + 3))
        self._following = np.empty(0, np.int64)
        self._integers = np.empty((0, 6), np.int64)
        self._fading = np.empty((0, 2))
        self._room = np.array([0, -1])

    @property
    def _store(self) -> tuple[Any, ...]:
        return self._terms, self._following, self._integers, self._fading, self._room

    def make_room(self, rows: int, events: int) -> None:
        """Make room for this many rows, the new ones empty, and for this many events."""
        here = len(self._integers)
        if rows > here:
            size = max(rows, 2 * here, 16)
            integers, fading = _enlarge(self._integers, size), _enlarge(self._fading, size)
            fading[here:, loops.FADE] = 1.0
            self._integers, self._fading = integers, fading
        needed = int(self._room[loops.HANDED_OUT]) + events
        if needed > len(self._following):
            size = max(needed, 2 * len(self._following))
            terms, following = _enlarge(self._terms, size), _enlarge(self._following, size)
            self._terms, self._following = terms, following

    def learn(self, rows: IntArray, points: FloatArray, decays: Any, pushes: Any) -> None:
        """Apply eq. (kernel_update) to each event, in order; there must be room."""
        _learn(self._store, rows, points, decays, pushes, self._rules)

    def evaluate(self, rows: IntArray, points: FloatArray, clip: float) -> FloatArray:
        """f, clipped, at each point; 0 for a row of -1."""
        values = np.empty(len(rows))
        known = np.where(rows < len(self._integers), rows, -1)
        evaluate = specialise(loops.evaluate, self.profile, self.dimensions, loops.value_of)
        parameter = self.profile.parameter
        evaluate(self._store, known, points, parameter, clip, self._scratch, values)
        return values

    def serve(
        self,
        running_constants: FloatArray,
        rows: IntArray,
        points: FloatArray,
        acts: IntArray,
        asked: IntArray,
        rates: FloatArray,
        decays: FloatArray,
        limits: tuple[float, float, float, float],
        clip: float,
        curves: Any,
        results: Any,
    ) -> None:
        """Thresholds that go out and losses that come in, in order; there must be room."""
        serve = specialise(loops.serve, self.profile, self.dimensions, loops.value_of)
        serve(
            running_constants, self._store, rows, points, acts, asked, rates, decays,
            (clip, self.profile.parameter), self._rules, limits, curves, self._scratch, results,
        )  # fmt: skip

    def rows(self) -> IntArray:
        """The rows that have learned anything."""
        return np.flatnonzero(self._integers[:, loops.ROUNDS])

    def __contains__(self, row: int) -> bool:
        return row < len(self._integers) and bool(self._integers[row, loops.ROUNDS])

    def get(self, rows: IntArray) -> tuple[IntArray, dict[str, Any]]:
        """The number of terms per row, and what `ExactExpansion.arrays` returns, concatenated."""
        counts = self._integers[rows, loops.COUNT]
        starts = np.concatenate(([0], np.cumsum(counts)))
        values = np.empty((starts[-1], self.dimensions + 3))
        _unload(self._store, rows, starts, values)
        d = self.dimensions
        return counts, {
            "centres": values[:, :d],
            "weights": values[:, d],
            "joined": values[:, d + 1],
            "folded": values[:, d + 2],
            "first": self._integers[rows, loops.FIRST],
            "rounds": self._integers[rows, loops.ROUNDS],
            "fade": self._fading[rows, loops.FADE],
            "clock": self._fading[rows, loops.CLOCK],
        }

    def put(self, rows: IntArray, counts: IntArray, arrays: Mapping[str, Any]) -> None:
        """Replace the rows by what `get` returned."""
        first = arrays["first"]
        require(bool((rows >= 0).all()), "it has rows below 0")
        require(bool(((first >= 0) & (first <= counts)).all()), "windows begin beyond their terms")
        chunks = int((-(-counts // loops.CHUNK)).sum())
        self.make_room(int(rows.max(initial=-1)) + 1, chunks)
        numbers = np.stack([first, counts, np.asarray(arrays["rounds"])], axis=1).astype(np.int64)
        fading = np.stack([arrays["fade"], arrays["clock"]], axis=1).astype(np.float64)
        starts = np.concatenate(([0], np.cumsum(counts)))
        parts = [np.asarray(arrays[name]).reshape(starts[-1], -1) for name in PARTS]
        values = np.ascontiguousarray(np.concatenate(parts, axis=1), np.float64)
        for row in rows[self._integers[rows, loops.COUNT] > 0].tolist():
            self.clear(row)
        _load(self._store, rows, starts, values, numbers, fading)  # all of it, in one call

    def keep(self, rows: IntArray) -> None:
        """Drop all rows but these, which are renumbered from 0."""
        gone = np.delete(np.arange(len(self._integers)), rows[rows < len(self._integers)])
        for row in gone.tolist():
            self.clear(row)
        self.make_room(int(rows.max(initial=-1)) + 1, 0)
        self._integers, self._fading = self._integers[rows], self._fading[rows]

    def clear(self, row: int) -> None:
        """Empty a row."""
        if row < len(self._integers):
            _clear(self._store, row)


def _enlarge(array: Any, size: int) -> Any:
    grown = np.zeros((size, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def _as_int64(array: Any) -> IntArray:
    return np.require(array, np.int64, ["C", "W"])


_learn = compile_entry(loops.learn)
_unload = compile_entry(loops.unload)
_load = compile_entry(loops.load)
_clear = compile_entry(loops.clear)
