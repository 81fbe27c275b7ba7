"""Expansions that keep the points themselves: all of them, or the last few."""

import math
from collections.abc import Mapping
from typing import Self

import numpy as np

from localarc.engine.exact import loops as loops
from localarc.engine.kernels import Profile
from localarc.engine.numba_tools import NUMBER, POINT, WHOLE, bound, entry
from localarc.engine.states import check_shapes, require
from localarc.engine.stream import Played, Stream
from localarc.engine.tiles import (
    TILE,
    FloatArray,
    IntArray,
    pack,
    plain,
    specialise,
    tiles_for,
    unpack,
)

FOREVER = 2**62
ROUNDS_AT_ONCE = 16 * TILE  # a forgetful replay drops dead tiles this often


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
        self.window = FOREVER if window is None else window
        self.archive = archive or window is None
        self.first = self.count = self.rounds = 0
        self.fade, self.clock = 1.0, 0.0
        self._roots = np.ones(dimensions) if roots is None else roots
        self._value_at = specialise(loops.value_at, profile, dimensions)
        self._evaluate_raw_in = specialise(loops.evaluate_raw, profile, dimensions, loops.value_at)
        self._hold(1)

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        return self.fade * self._sums(self._weights, self.first, points)

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        return self.fade * self._value_at(  # type: ignore[no-any-return]
            self._tiles, self._weights, self.first, self.count, point, self.profile.parameter
        )

    def accumulate(self) -> None:
        """Let the present f join the sum that the average reads."""
        self.clock += self.fade
        self.rounds += 1

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        self.fade *= factor
        if self.fade < loops.FAINT:
            _fold(self._store, self.first, self.count, self.fade, self.clock)
            self.fade, self.clock = 1.0, 0.0

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .); the oldest term leaves a full window."""
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
        """One round: f joins the average, shrinks, and gains a term."""
        self._make_room(1)  # what can fail comes first
        self.accumulate()
        self.shrink(decay)
        self.add(point, weight)

    def evaluate_raw(self, point: FloatArray) -> float:
        """f at a point that is still to be divided by the roots; NaN if it is not healthy."""
        return self.fade * self._evaluate_raw(self.first, self.count, point)  # type: ignore[no-any-return]

    def learn_raw(self, point: FloatArray, decay: float, weight: float) -> bool:
        """`learn` for such a point; False, and nothing learnt, if it is not healthy."""
        self._make_room(1)
        fade, clock = self.fade * decay, self.clock + self.fade
        if fade < loops.FAINT or self.count - self.first == self.window:
            healthy = not math.isnan(self.evaluate_raw(point))
            if healthy:
                self.learn(point / self._roots, decay, weight)
            return healthy
        if not self._append_raw(self.count, point, weight * self.scale / fade, clock):
            return False
        self.fade, self.clock = fade, clock
        self.count += 1
        self.rounds += 1
        return True

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all f that were accumulated, at each row of `points`."""
        if not self.archive:
            raise ValueError(
                "this expansion forgets what left its window: it has no average over all rounds. "
                "Make it with archive=True, which keeps every point."
            )
        weights = self._folded + self._weights * (self.clock - self._joined)
        return self._sums(weights, 0, points) / max(self.rounds, 1)

    def replay(self, stream: Stream) -> Played:
        """Play the whole stream from the present state, and stay where its last round leaves f."""
        if stream.radius < np.inf and self.window < FOREVER:
            raise ValueError(
                "a radius needs |f|, which is not known once terms leave a window. "
                "Use clip, or keep all terms."
            )
        play = specialise(loops.replay, self.profile, self.dimensions, loops.hear, loops.hear_one)
        rules = stream.rules(self.scale, self.profile)
        played = stream.unplayed()
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
        """Everything needed to go on bit for bit."""
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
        """Take over a state that `arrays` gave; the constructor's arguments must be the same."""
        count, first = len(arrays["weights"]), int(arrays["first"])
        each = dict.fromkeys(("weights", "joined", "folded"), (count,))
        check_shapes(arrays, centres=(count, self.dimensions), **each)
        require(0 <= first <= count, f"its window begins at term {first} of {count}")
        self.count, self.first, self.rounds = count, first, int(arrays["rounds"])
        self.fade, self.clock = float(arrays["fade"]), float(arrays["clock"])
        self._hold(tiles_for(self.count) + 1)
        for mine, name in zip(self._store, ("centres", "weights", "joined", "folded"), strict=True):
            mine[: tiles_for(self.count)] = pack(np.asarray(arrays[name], dtype=np.float64))
        return self

    def take(
        self,
        points: FloatArray,
        weights: FloatArray,
        joined: FloatArray,
        folded: FloatArray,
        fade: float,
        clock: float,
    ) -> None:
        """Become what a replay of `points` elsewhere made, given tile by tile."""
        self._keep(pack(points), weights, joined, folded)
        self.count = self.rounds = len(points)
        self.fade, self.clock = fade, clock

    @property
    def nbytes(self) -> int:
        """The size of the state: what `arrays` gives, in bytes."""
        self._drop_dead_tiles()
        return self.count * (self.dimensions + 3) * 8 + 4 * 8

    def _sums(self, weights: FloatArray, first: int, points: FloatArray) -> FloatArray:
        values_at = specialise(loops.values_at, self.profile, self.dimensions, loops.value_at)
        return values_at(  # type: ignore[no-any-return]
            self._tiles, weights, first, self.count, plain(points), self.profile.parameter
        )

    def _make_room(self, terms: int) -> None:
        if self.count + terms <= len(self._weights) * TILE:
            return
        self._drop_dead_tiles()
        needed = tiles_for(self.count + terms)
        if needed > len(self._weights):
            old = self._store
            self._hold(max(needed, 2 * len(self._weights)))
            for mine, kept in zip(self._store, old, strict=True):
                mine[: len(kept)] = kept

    def _drop_dead_tiles(self) -> None:
        """Whole tiles only: a term's place in its tile decides the order of the sum."""
        dead = 0 if self.archive else self.first // TILE
        if dead == 0:
            return
        for array in self._store:
            array[: len(array) - dead] = array[dead:].copy()
            array[len(array) - dead :] = 0.0
        self.first -= dead * TILE
        self.count -= dead * TILE

    def _hold(self, tiles: int) -> None:
        self._keep(np.zeros((tiles, self.dimensions, TILE)), *np.zeros((3, tiles, TILE)))

    def _keep(
        self, tiles: FloatArray, weights: FloatArray, joined: FloatArray, folded: FloatArray
    ) -> None:
        self._tiles, self._weights, self._joined, self._folded = tiles, weights, joined, folded
        self._store = tiles, weights, joined, folded
        settings = self._roots, self.profile.parameter
        self._evaluate_raw = bound(
            self._evaluate_raw_in, (tiles, weights, *settings), WHOLE, WHOLE, POINT
        )
        state = tiles, weights, joined, self._roots
        self._append_raw = bound(_append_raw, state, WHOLE, POINT, NUMBER, NUMBER)


_append_raw = entry(loops.append_raw, brief=True)
_retire = entry(loops.retire)
_fold = entry(loops.fold)
