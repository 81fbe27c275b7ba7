"""Expansions that store the points themselves: all of them, or the latest ones."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from localarc.engine.exact import loops
from localarc.engine.kernels import Profile
from localarc.engine.numba_tools import FLOAT, POINT, bind_state, compile_entry
from localarc.engine.step import NO_WINDOW, check_shapes, require
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
        self._numbers = np.zeros(loops.ROOTS + dimensions)
        self._numbers[[loops.FADE, loops.WINDOW, loops.SCALE]] = 1.0, self.window, scale
        self._numbers[loops.ROOTS :] = 1.0 if roots is None else roots
        self._value_at = specialise(loops.value_at, profile, dimensions)
        self._evaluate_raw_in = specialise(loops.evaluate_raw, profile, dimensions, loops.value_at)
        self._store: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
        self._terms: FloatArray  # the last three of the store
        self._evaluate: Callable[[FloatArray], float]
        self._learn: Callable[[float, FloatArray, float, float], bool]
        self._set_store(np.zeros((1, dimensions, TILE)), np.zeros((3, 1, TILE)))

    # These live in the array, where the compiled step updates them.

    @property
    def fade(self) -> float:
        """The common factor of all weights."""
        return self._numbers.item(loops.FADE)

    @property
    def clock(self) -> float:
        """The running sum of fades."""
        return self._numbers.item(loops.CLOCK)

    @property
    def rounds(self) -> int:
        """The number of accumulated f."""
        return int(self._numbers.item(loops.ROUNDS))

    @property
    def first(self) -> int:
        """The oldest term that has not left the window."""
        return int(self._numbers.item(loops.FIRST))

    @property
    def count(self) -> int:
        """The number of stored terms."""
        return int(self._numbers.item(loops.COUNT))

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        return self.fade * self._sums(self._terms[0], self.first, points)

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        tiles, weights, _, _ = self._store
        return self.fade * self._value_at(  # type: ignore[no-any-return]
            tiles, weights, self.first, self.count, point, self.profile.parameter
        )

    def accumulate(self) -> None:
        """Add the current f to the sum behind the average."""
        _accumulate(self._numbers)

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        _shrink(self._store, self._numbers, factor)

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .); a full window drops its oldest term."""
        self._make_room(1)
        b, j = divmod(self.count, TILE)
        self._store[0][b, :, j] = point
        _add(self._store, self._numbers, weight)

    def evaluate_raw(self, point: FloatArray) -> float:
        """f at a raw point, before division by the roots; NaN unless finite and in range."""
        return self._evaluate(point)

    def learn_raw(
        self, point: FloatArray, decay: float, weight: float, projection: float = 1.0
    ) -> bool:
        """One round with a raw point: add f to the average, shrink it, add a term, project.

        False, and nothing learned, unless the point is finite and in range. It is one compiled
        call: an exception from outside, such as KeyboardInterrupt, finds all of it done or nothing.
        """
        if self._learn(projection, point, decay, weight):
            return True
        if math.isnan(self._evaluate(point)):
            return False
        self._make_room(1)
        return self._learn(projection, point, decay, weight)

    try_learn_fast = learn_raw

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all accumulated f, at each row of `points`."""
        if not self.archive:
            raise ValueError(
                "this expansion discards terms that leave its window: it has no average over all "
                "rounds. Construct it with archive=True, which keeps every point."
            )
        weights, joined, folded = self._terms
        past = folded + weights * (self.clock - joined)
        return self._sums(past, 0, points) / max(self.rounds, 1)

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
            played.constant, played.norm = play(
                self._store,
                self._numbers,
                (played.constant, played.norm),
                rules,
                *stream.columns(part),
                played.thresholds[part],
                played.losses[part],
            )
        return played

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """Everything needed to resume, bit for bit."""
        self._drop_dead_tiles()
        names = "centres", "weights", "joined", "folded"
        kept = {
            name: unpack(array, self.count).copy()
            for name, array in zip(names, self._store, strict=True)
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
        tiles = np.zeros((tiles_for(count) + 1, self.dimensions, TILE))
        terms = np.zeros((3, tiles_for(count) + 1, TILE))
        names = "centres", "weights", "joined", "folded"
        for mine, name in zip((tiles, *terms), names, strict=True):
            mine[: tiles_for(count)] = pack(np.asarray(arrays[name], dtype=np.float64))
        self._set_store(tiles, terms)
        fading = float(arrays["fade"]), float(arrays["clock"])
        self._set_numbers(*fading, int(arrays["rounds"]), first, count)
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
        self._set_store(pack(points), np.stack([weights, joined, folded]))
        self._set_numbers(fade, clock, len(points), 0, len(points))

    @property
    def nbytes(self) -> int:
        """The size in bytes of what `arrays` returns."""
        self._drop_dead_tiles()
        return self.count * (self.dimensions + 3) * 8 + 4 * 8

    def _sums(self, weights: FloatArray, first: int, points: FloatArray) -> FloatArray:
        values_at = specialise(loops.values_at, self.profile, self.dimensions, loops.value_at)
        return values_at(  # type: ignore[no-any-return]
            self._store[0],
            weights,
            first,
            self.count,
            as_contiguous(points),
            self.profile.parameter,
        )

    def _make_room(self, terms: int) -> None:
        """Make room for more terms, without a change to f or its average."""
        if self.count + terms <= self._terms[0].size:
            return
        self._drop_dead_tiles()
        tiles, there = self._store[0], len(self._store[0])
        needed = tiles_for(self.count + terms)
        if needed > there:
            more = max(needed, 2 * there) - there
            self._set_store(
                np.concatenate([tiles, np.zeros((more, self.dimensions, TILE))]),
                np.concatenate([self._terms, np.zeros((3, more, TILE))], axis=1),
            )

    def _drop_dead_tiles(self) -> None:
        """Drop whole tiles: a term's position in its tile determines the order of summation."""
        dead = 0 if self.archive else self.first // TILE
        if dead:
            _drop_tiles(self._store[0], self._terms, self._numbers, dead)

    def _set_numbers(self, *numbers: float) -> None:
        """Set fade, clock, rounds, first and count."""
        self._numbers[: loops.WINDOW] = numbers

    def _set_store(self, tiles: FloatArray, terms: FloatArray) -> None:
        """Replace the arrays and the calls that are bound to them.

        No call stands between the assignments: an interrupt finds all of them done or none.
        """
        weights, joined, folded = terms
        state = tiles, weights, self._numbers, self.profile.parameter
        evaluate: Any = bind_state(self._evaluate_raw_in, state, POINT)
        learn: Any = bind_state(_learn, (tiles, terms, self._numbers), FLOAT, POINT, FLOAT, FLOAT)
        self._store, self._terms = (tiles, weights, joined, folded), terms
        self._evaluate, self._learn = evaluate, learn


_learn = compile_entry(loops.learn, keep_gil=True)
_accumulate = compile_entry(loops.accumulate)
_shrink = compile_entry(loops.shrink)
_add = compile_entry(loops.add)
_drop_tiles = compile_entry(loops.drop_tiles)
