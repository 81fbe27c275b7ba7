"""An expansion on a lattice: the Gaussian kernel in up to three dimensions, in constant memory."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from localarc.engine.lattice import layout, loops
from localarc.engine.lattice.quadrature import MAX_REACH, Rule, choose_rule
from localarc.engine.numba_tools import FLOAT, POINT, bind_state, compile_entry, jit
from localarc.engine.simd import SIDE
from localarc.engine.step import check_shapes, require
from localarc.engine.stream import Played, Stream
from localarc.engine.tiles import FloatArray, IntArray, as_contiguous


class LatticeExpansion:
    """f on a lattice: a step costs the same at any t, and memory grows only with the area covered.

    The kernel is within `tolerance` (times `scale`) of the Gaussian everywhere, so that f is within
    `tolerance * scale * sum |weights|` of the exact one, up to rounding. It is an inner product
    of features, hence positive semi-definite. `max_bytes` bounds the state.
    """

    def __init__(
        self,
        dimensions: int,
        tolerance: float = 1e-15,
        scale: float = 1.0,
        max_bytes: int = 2**28,
        roots: FloatArray | None = None,
    ) -> None:
        if not 1 <= dimensions <= 3:
            raise ValueError(
                f"a lattice supports 1 to 3 features, got {dimensions}: its cost is exponential in "
                "their number. Use a dictionary instead."
            )
        self.dimensions = dimensions
        self.tolerance = tolerance
        self.scale = scale
        self.max_bytes = max_bytes
        self._roots = np.ones(dimensions) if roots is None else roots
        self._size: int = SIDE ** max(dimensions, 2)  # nodes per tile, and tiles per page
        self._set_rule(choose_rule(tolerance, dimensions))
        self._floats, self._integers = (
            np.empty(0),
            np.empty(0, np.int64),
        )  # grow, and stay themselves
        self._allocate(16, 2 * self._max_new_tiles)
        self._floats[layout.FADE] = 1.0
        arrays = self._floats, self._integers
        # f at a raw point, before division by the roots, NaN unless finite and in range; and learn
        # for a raw point, or False and nothing learned: not finite, out of range, or no room.
        self.evaluate_raw: Callable[[FloatArray], float] = bind_state(_evaluate_raw, arrays, POINT)
        self.try_learn_fast: Callable[[FloatArray, float, float], bool]
        self.try_learn_fast = bind_state(_learn, arrays, POINT, FLOAT, FLOAT)
        self._learn = bind_state(_learn_projected, arrays, FLOAT, POINT, FLOAT, FLOAT)

    def _set_rule(self, rule: Rule) -> None:
        self.rule = rule
        self._weight = self.scale * rule.weight(self.dimensions)
        self._max_new_tiles = layout.max_tiles(rule.reach) ** self.dimensions

    # These live in the array, where the compiled step updates them.

    @property
    def fade(self) -> float:
        """The common factor of all heights."""
        return self._floats.item(layout.FADE)

    @property
    def clock(self) -> float:
        """The running sum of fades."""
        return self._floats.item(layout.CLOCK)

    @property
    def rounds(self) -> int:
        """The number of accumulated f."""
        return int(self._floats.item(layout.ROUNDS))

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        sums: FloatArray = _values_at(self._floats, self._integers, as_contiguous(points))
        return self.fade * sums

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        return self.fade * _value_at(self._floats, self._integers, point)

    def accumulate(self) -> None:
        """Add the current f to the sum behind the average."""
        _accumulate(self._floats)

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        _shrink(self._floats, self._integers, factor)

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .)."""
        unscaled = weight * self._weight / self.fade
        while not _add_at(self._floats, self._integers, point, unscaled, self.clock):
            self._check(point)
            self._make_room()

    def learn_raw(
        self, point: FloatArray, decay: float, weight: float, projection: float = 1.0
    ) -> bool:
        """One round with a raw point: add f to the average, shrink it, add a term, project.

        False, and nothing learned, unless the point is finite and in range. The round is one
        compiled call: an exception from outside, such as KeyboardInterrupt, finds all of it done or
        nothing.
        """
        while not self._learn(projection, point, decay, weight):
            if math.isnan(self.evaluate_raw(point)):
                return False
            self._check(point / self._roots)
            self._make_room()
        return True

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all accumulated f, at each row of `points`."""
        # Copy both arrays: evaluating a point leaves its location in them, for the next term.
        floats, integers = self._floats.copy(), self._integers.copy()
        nodes = self._nodes(floats)
        nodes[:, 0] = self.clock * nodes[:, 0] + nodes[:, 1]
        sums: FloatArray = _values_at(floats, integers, as_contiguous(points))
        return sums / max(self.rounds, 1)

    def replay(self, stream: Stream) -> Played:
        """Replay the whole stream from the current state; f ends where the last round leaves it."""
        limits = stream.floor, stream.clip, stream.radius
        rules = stream.alpha, *limits, self._weight, self.scale, 0.0
        played = stream.empty_result()
        done = 0
        while done < len(stream):
            rest = slice(done, len(stream))
            steps, played.constant, played.norm = _replay(
                self._floats, self._integers, (played.constant, played.norm), rules,
                *stream.columns(rest), played.thresholds[rest], played.losses[rest],
            )  # fmt: skip
            done += steps
            if done < len(stream):
                self._check(stream.points[done])
                self._make_room()
        return played

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """Everything needed to resume, bit for bit."""
        _, tiles = self._counts()
        return {
            "pages": self._pages().copy(),
            "nodes": self._nodes(self._floats)[:tiles].copy(),
            "rounds": np.array(self.rounds),
            "fade": np.array(self.fade),
            "clock": np.array(self.clock),
            "rule": np.array([self.rule.step, self.rule.reach]),
        }

    def restore(self, arrays: Mapping[str, FloatArray | IntArray]) -> Self:
        """Load a state that `arrays` returned; the constructor's arguments must be the same.

        The nodes depend on the rule they were laid out by, so the state contains it: a later
        release may choose a better one.
        """
        step, reach = arrays["rule"].tolist()
        rule = Rule(step, int(reach))
        self._check_rule(rule)
        self._check_tiles(arrays)
        self._set_rule(rule)
        self._allocate(len(arrays["pages"]) + 16, len(arrays["nodes"]) + 2 * self._max_new_tiles)
        self._load(arrays)
        return self

    def _check_rule(self, rule: Rule) -> None:
        sound = 2 <= rule.reach <= MAX_REACH and 0.0 < rule.step <= 1.0
        require(
            sound and rule.error(self.dimensions) <= self.tolerance,
            f"{rule} does not keep the tolerance {self.tolerance}",
        )

    def _check_tiles(self, arrays: Mapping[str, FloatArray | IntArray]) -> None:
        pages, count = arrays["pages"], len(arrays["nodes"])
        page = layout.KEY + self._size
        check_shapes(arrays, pages=(len(pages), page), nodes=(count, 2, self._size))
        tiles = pages[:, layout.KEY :]
        listed = bool(((tiles >= 0) & (tiles < count)).all())
        require(listed, f"its pages list tiles beyond the {count} that it has")
        require(len(pages) > 0 and not pages[0].any(), "its page 0 is not empty")

    @property
    def nbytes(self) -> int:
        """The size in bytes of what `arrays` returns."""
        return self._bytes(*self._counts())

    def _bytes(self, pages: int, tiles: int) -> int:
        return 8 * (pages * (layout.KEY + self._size) + tiles * 2 * self._size + 5)

    def _check(self, point: FloatArray) -> None:
        limit = layout.MAX_STEPS * self.rule.step
        if not np.all(np.abs(point) < limit):
            raise ValueError(
                f"a lattice requires finite points within {limit:.1e} root length scales of the "
                f"origin, got {point}. Centre the features first."
            )

    def _make_room(self) -> None:
        pages, tiles = self._counts()
        needed = self._bytes(pages + SIDE, tiles + self._max_new_tiles)
        if needed > self.max_bytes:
            raise MemoryError(
                f"the lattice holds {tiles} tiles, and the next point could bring it to {needed} "
                f"bytes, more than max_bytes={self.max_bytes}: the points cover a large area in "
                "length scales. Use a longer length scale, KeepAll, a Dictionary, or "
                "Lattice(max_bytes=...)."
            )
        self._grow()

    def _grow(self) -> None:
        """Double the room, in place, because the compiled calls are bound to these two arrays.

        After each of the four calls the lattice is intact, so that an interrupt does no harm: more
        room than the table was made for, or rows that are not aligned, only make it slower.
        """
        _, _, nodes, end, table, start = layout.edges(self._floats, self._integers)
        page = self._integers.item(layout.PAGE)
        pages = 2 * int(len(self._integers) - start) // page
        self._floats.resize(len(self._floats) + end - nodes, refcheck=False)
        _realign(self._floats, self._integers, layout.aligned_start(self._floats))
        slots = layout.slots_for(pages)
        self._integers.resize(table + slots + pages * page, refcheck=False)
        _rehash(self._floats, self._integers, slots)

    def _allocate(self, pages: int, tiles: int) -> None:
        """An empty lattice with that much room, in the arrays bound to the compiled calls."""
        layout.lay_out(self._floats, self._integers, self.rule, self.dimensions, pages, tiles)
        self._floats[layout.WEIGHT] = self._weight
        self._floats[layout.ROOTS : layout.ROOTS + self.dimensions] = self._roots

    def _load(self, arrays: Mapping[str, FloatArray | IntArray]) -> None:
        pages, nodes = arrays["pages"], arrays["nodes"]
        self._floats[layout.FADE] = float(arrays["fade"])
        self._floats[layout.CLOCK] = float(arrays["clock"])
        self._floats[layout.ROUNDS] = int(arrays["rounds"])
        self._integers[layout.PAGES], self._integers[layout.TILES] = len(pages), len(nodes)
        self._pages()[:] = pages
        self._nodes(self._floats)[: len(nodes)] = nodes
        _index_pages(self._floats, self._integers)

    def _counts(self) -> tuple[int, int]:
        return int(self._integers[layout.PAGES]), int(self._integers[layout.TILES])

    def _pages(self) -> IntArray:
        """The pages in use, one to a row."""
        *_, start = layout.edges(self._floats, self._integers)
        shape = self._integers[layout.PAGES], self._integers[layout.PAGE]
        return self._integers[start : start + shape[0] * shape[1]].reshape(shape)

    def _nodes(self, floats: FloatArray) -> FloatArray:
        """By tile: its heights, its offsets."""
        _, _, nodes, end, _, _ = layout.edges(floats, self._integers)
        return floats[nodes:end].reshape(-1, 2, self._size)


_index_pages = compile_entry(layout.index_pages)
_realign = compile_entry(layout.realign)
_rehash = compile_entry(layout.rehash)
_value_at = compile_entry(loops.value_at)
_values_at = compile_entry(loops.values_at, value_at=jit(loops.value_at))
_add_at = compile_entry(loops.add_at)
_accumulate = compile_entry(loops.accumulate)
_shrink = compile_entry(loops.shrink)
_evaluate_raw = compile_entry(loops.evaluate_raw, keep_gil=True, value_at=jit(loops.value_at))
_learn = compile_entry(loops.learn, keep_gil=True)
_learn_projected = compile_entry(loops.learn_projected, keep_gil=True)
_replay: Any = compile_entry(loops.replay)
