"""Expansions that store the points themselves: all of them, or the latest ones."""

import math
from collections.abc import Mapping
from typing import Self

import numpy as np

from localarc.engine.exact import loops
from localarc.engine.kernels import Profile
from localarc.engine.numba_tools import FLOAT, INTEGER, POINT, bind_state, compile_entry
from localarc.engine.step import MIN_FADE, NO_WINDOW, check_shapes, require
from localarc.engine.stream import Played, Stream
from localarc.engine.tiles import (
    TILE,
    FloatArray,
    IntArray,
    as_contiguous,
    pack,
    specialise,
    tiles_for,
    unpack,
)

ROUNDS_AT_ONCE = 16 * TILE  # without an archive, a replay drops dead tiles this often


class ExactExpansion:
    """f as the sum over every point, or over the last `window` points.

    A term that leaves the window stays in the average, and therefore in memory, unless
    `archive=False`.
    """

    def __init__(
        self,
        profile: Profile,
        dimensions: int,
        scale: float = 1.0,
        window: int | None = None,
        archive: bool = True,
        roots: FloatArray | None = None,
    ) -> None:
        self.profile = profile
        self.dimensions = dimensions
        self.scale = scale
        self.window = NO_WINDOW if window is None else window
        self.archive = archive or window is None
        self.first = self.count = self.rounds = 0
        self.fade, self.clock = 1.0, 0.0
        self._roots = np.ones(dimensions) if roots is None else roots
        self._value_at = specialise(loops.value_at, profile, dimensions)
        self._evaluate_raw_in = specialise(loops.evaluate_raw, profile, dimensions, loops.value_at)
        self._allocate(1)

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        return self.fade * self._sums(self._weights, self.first, points)

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        return self.fade * self._value_at(  # type: ignore[no-any-return]
            self._tiles, self._weights, self.first, self.count, point, self.profile.parameter
        )

    def accumulate(self) -> None:
        """Add the current f to the sum behind the average."""
        self.clock += self.fade
        self.rounds += 1

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        self.fade *= factor
        if self.fade < MIN_FADE:
            _fold(self._store, self.first, self.count, self.fade, self.clock)
            self.fade, self.clock = 1.0, 0.0

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .); a full window drops its oldest term."""
        self._make_room(1)
        if self.count - self.first == self.window:
            _retire(self._store, self.first, self.clock)
            self.first += 1
        b, j = divmod(self.count, TILE)
        self._tiles[b, :, j] = point
        self._weights[b, j] = weight * self.scale / self.fade
        self._joined[b, j] = self.clock
        self.count += 1

    def learn(self, point: FloatArray, decay: float, weight: float) -> None:
        """One round: add f to the average, shrink it, and add a term."""
        self._make_room(1)  # before anything changes: it may raise
        self.accumulate()
        self.shrink(decay)
        self.add(point, weight)

    def evaluate_raw(self, point: FloatArray) -> float:
        """f at a raw point, before division by the roots; NaN unless finite and in range."""
        return self.fade * self._evaluate_raw(self.first, self.count, point)  # type: ignore[no-any-return]

    def learn_raw(self, point: FloatArray, decay: float, weight: float) -> bool:
        """`learn` for a raw point; False, and nothing learned, unless it is finite and in range."""
        self._make_room(1)
        fade, clock = self.fade * decay, self.clock + self.fade
        if fade < MIN_FADE or self.count - self.first == self.window:
            valid = not math.isnan(self.evaluate_raw(point))
            if valid:
                self.learn(point / self._roots, decay, weight)
            return valid
        if not self._append_raw(self.count, point, weight * self.scale / fade, clock):
            return False
        self.fade, self.clock = fade, clock
        self.count += 1
        self.rounds += 1
        return True

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all accumulated f, at each row of `points`."""
        if not self.archive:
            raise ValueError(
                "this expansion discards terms that leave its window: it has no average over all "
                "rounds. Construct it with archive=True, which keeps every point."
            )
        weights = self._folded + self._weights * (self.clock - self._joined)
        return self._sums(weights, 0, points) / max(self.rounds, 1)

    def replay(self, stream: Stream) -> Played:
        """Replay the whole stream from the current state; f ends where the last round leaves it."""
        if stream.radius < np.inf and self.window < NO_WINDOW:
            raise ValueError(
                "a radius requires |f|, which is unknown once terms leave a window. "
                "Use clip, or keep all terms."
            )
        play = specialise(
            loops.replay, self.profile, self.dimensions, loops.sum_block, loops.add_term
        )
        rules = stream.rules(self.scale, self.profile)
        played = stream.empty_result()
        step = len(stream) if self.archive else ROUNDS_AT_ONCE
        for part in stream.parts(step):
            self._make_room(part.stop - part.start)
            self.first, self.count, self.fade, self.clock, played.constant, played.norm = play(
                self._store,
                (self.first, self.count, self.window),
                (self.fade, self.clock, played.constant, played.norm),
                rules,
                *stream.columns(part),
                played.thresholds[part],
                played.losses[part],
            )
        self.rounds += len(stream)
        return played

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """Everything needed to resume, bit for bit."""
        self._drop_dead_tiles()
        kept = {
            "centres": unpack(self._tiles, self.count),
            "weights": unpack(self._weights, self.count),
            "joined": unpack(self._joined, self.count),
            "folded": unpack(self._folded, self.count),
        }
        scalars = {"first": self.first, "rounds": self.rounds}
        fading = {"fade": self.fade, "clock": self.clock}
        return kept | {k: np.array(v) for k, v in (scalars | fading).items()}

    def restore(self, arrays: Mapping[str, FloatArray | IntArray]) -> Self:
        """Load a state that `arrays` returned; the constructor's arguments must be the same."""
        count, first = len(arrays["weights"]), int(arrays["first"])
        each = dict.fromkeys(("weights", "joined", "folded"), (count,))
        check_shapes(arrays, centres=(count, self.dimensions), **each)
        require(0 <= first <= count, f"its window begins at term {first} of {count}")
        self.count, self.first, self.rounds = count, first, int(arrays["rounds"])
        self.fade, self.clock = float(arrays["fade"]), float(arrays["clock"])
        self._allocate(tiles_for(self.count) + 1)
        for mine, name in zip(self._store, ("centres", "weights", "joined", "folded"), strict=True):
            mine[: tiles_for(self.count)] = pack(np.asarray(arrays[name], dtype=np.float64))
        return self

    def set_terms(
        self,
        points: FloatArray,
        weights: FloatArray,
        joined: FloatArray,
        folded: FloatArray,
        fade: float,
        clock: float,
    ) -> None:
        """Replace the state by the result of a replay of `points`, given tile by tile."""
        self._set_store(pack(points), weights, joined, folded)
        self.count = self.rounds = len(points)
        self.fade, self.clock = fade, clock

    @property
    def nbytes(self) -> int:
        """The size of the state in bytes: that of what `arrays` returns."""
        self._drop_dead_tiles()
        return self.count * (self.dimensions + 3) * 8 + 4 * 8

    def _sums(self, weights: FloatArray, first: int, points: FloatArray) -> FloatArray:
        values_at = specialise(loops.values_at, self.profile, self.dimensions, loops.value_at)
        return values_at(  # type: ignore[no-any-return]
            self._tiles, weights, first, self.count, as_contiguous(points), self.profile.parameter
        )

    def _make_room(self, terms: int) -> None:
        if self.count + terms <= len(self._weights) * TILE:
            return
        self._drop_dead_tiles()
        needed = tiles_for(self.count + terms)
        if needed > len(self._weights):
            old = self._store
            self._allocate(max(needed, 2 * len(self._weights)))
            for mine, kept in zip(self._store, old, strict=True):
                mine[: len(kept)] = kept

    def _drop_dead_tiles(self) -> None:
        """Drop whole tiles: a term's position in its tile determines the order of summation."""
        dead = 0 if self.archive else self.first // TILE
        if dead == 0:
            return
        for array in self._store:
            array[: len(array) - dead] = array[dead:].copy()
            array[len(array) - dead :] = 0.0
        self.first -= dead * TILE
        self.count -= dead * TILE

    def _allocate(self, tiles: int) -> None:
        self._set_store(np.zeros((tiles, self.dimensions, TILE)), *np.zeros((3, tiles, TILE)))

    def _set_store(
        self, tiles: FloatArray, weights: FloatArray, joined: FloatArray, folded: FloatArray
    ) -> None:
        self._tiles, self._weights, self._joined, self._folded = tiles, weights, joined, folded
        self._store = tiles, weights, joined, folded
        settings = self._roots, self.profile.parameter
        self._evaluate_raw = bind_state(
            self._evaluate_raw_in, (tiles, weights, *settings), INTEGER, INTEGER, POINT
        )
        state = tiles, weights, joined, self._roots
        self._append_raw = bind_state(_append_raw, state, INTEGER, POINT, FLOAT, FLOAT)


_append_raw = compile_entry(loops.append_raw, keep_gil=True)
_retire = compile_entry(loops.retire)
_fold = compile_entry(loops.fold)
