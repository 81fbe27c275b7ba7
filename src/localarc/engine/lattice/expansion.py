"""An expansion on a lattice: the Gaussian kernel in up to three dimensions, in constant memory."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from localarc.engine.lattice import layout as places
from localarc.engine.lattice import loops as loops
from localarc.engine.lattice.quadrature import MOST_REACH, Rule, rule_for
from localarc.engine.numba_tools import NUMBER, POINT, bound, entry, jit
from localarc.engine.simd import SIDE
from localarc.engine.states import check_shapes, require
from localarc.engine.stream import Played, Stream
from localarc.engine.tiles import FloatArray, IntArray, plain


class LatticeExpansion:
    """f on a lattice: a step costs the same at any t, and memory grows with the area seen alone.

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
                f"a lattice serves 1 to 3 features, got {dimensions}: its cost is a power of their "
                "number. Use a dictionary instead."
            )
        self.dimensions = dimensions
        self.tolerance = tolerance
        self.scale = scale
        self.max_bytes = max_bytes
        self._roots = np.ones(dimensions) if roots is None else roots
        self._size: int = SIDE ** max(dimensions, 2)  # nodes to a tile, and tiles to a page
        self._follow(rule_for(tolerance, dimensions))
        self._reals, self._wholes = np.empty(0), np.empty(0, np.int64)  # grow, and stay themselves
        self._hold(16, 2 * self._most_new)
        self._reals[places.FADE] = 1.0
        arrays = self._reals, self._wholes
        # f at a point that is still to be divided by the roots, NaN if it is not healthy; and
        # `learn` for such a point, or False and nothing learnt: not healthy, or no room.
        self.evaluate_raw: Callable[[FloatArray], float] = bound(_evaluate_raw, arrays, POINT)
        self.try_learn_fast: Callable[[FloatArray, float, float], bool]
        self.try_learn_fast = bound(_learn, arrays, POINT, NUMBER, NUMBER)

    def _follow(self, rule: Rule) -> None:
        self.rule = rule
        self._weight = self.scale * rule.weight(self.dimensions)
        self._most_new = places.most_tiles(rule.reach) ** self.dimensions

    # What a step changes lives in the arrays, where the compiled step finds it.

    @property
    def fade(self) -> float:
        """The factor that all heights share."""
        return float(self._reals[places.FADE])

    @fade.setter
    def fade(self, value: float) -> None:
        self._reals[places.FADE] = value

    @property
    def clock(self) -> float:
        """The running sum of fades."""
        return float(self._reals[places.CLOCK])

    @clock.setter
    def clock(self, value: float) -> None:
        self._reals[places.CLOCK] = value

    @property
    def rounds(self) -> int:
        """How many f were accumulated."""
        return int(self._reals[places.ROUNDS])

    @rounds.setter
    def rounds(self, value: int) -> None:
        self._reals[places.ROUNDS] = value

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        sums: FloatArray = _values_at(self._reals, self._wholes, plain(points))
        return self.fade * sums

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        return self.fade * _value_at(self._reals, self._wholes, point)

    def accumulate(self) -> None:
        """Let the present f join the sum that the average reads."""
        self.clock += self.fade
        self.rounds += 1

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        self.fade *= factor
        if self.fade < loops.FAINT:
            _fold(self._reals, self._wholes)

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .)."""
        lifted = weight * self._weight / self.fade
        while not _add_at(self._reals, self._wholes, point, lifted, self.clock):
            self._check(point)
            self._make_room()

    def learn(self, point: FloatArray, decay: float, weight: float) -> None:
        """One round: f joins the average, shrinks, and gains a term; or nothing, if it raises."""
        self.learn_raw(point * self._roots, decay, weight)

    def learn_raw(self, point: FloatArray, decay: float, weight: float) -> bool:
        """`learn` for a raw point; False, and nothing learned, if it is not finite and in range."""
        while not self.try_learn_fast(point, decay, weight):
            if math.isnan(self.evaluate_raw(point)):
                return False
            self._check(point / self._roots)
            self._make_room()
        return True

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all f that were accumulated, at each row of `points`."""
        # A copy of both arrays: a look at a point leaves its place in them, for the next term.
        reals, wholes = self._reals.copy(), self._wholes.copy()
        nodes = self._nodes(reals)
        nodes[:, 0] = self.clock * nodes[:, 0] + nodes[:, 1]
        sums: FloatArray = _values_at(reals, wholes, plain(points))
        return sums / max(self.rounds, 1)

    def replay(self, stream: Stream) -> Played:
        """Play the whole stream from the present state, and stay where its last round leaves f."""
        rules = stream.alpha, stream.clip, stream.radius, self._weight, self.scale, 0.0
        played = stream.unplayed()
        done = 0
        while done < len(stream):
            rest = slice(done, len(stream))
            steps, self.fade, self.clock, played.constant, played.norm = _replay(
                self._reals, self._wholes,
                (self.fade, self.clock, played.constant, played.norm), rules,
                *stream.columns(rest), played.thresholds[rest], played.losses[rest],
            )  # fmt: skip
            done += steps
            self.rounds += steps
            if done < len(stream):
                self._check(stream.points[done])
                self._make_room()
        return played

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """Everything needed to go on bit for bit."""
        pages, tiles = self._counts()
        return {
            "pages": self._pages()[:pages].copy(),
            "nodes": self._nodes(self._reals)[:tiles].copy(),
            "rounds": np.array(self.rounds),
            "fade": np.array(self.fade),
            "clock": np.array(self.clock),
            "rule": np.array([self.rule.step, self.rule.reach]),
        }

    def restore(self, arrays: Mapping[str, FloatArray | IntArray]) -> Self:
        """Take over a state that `arrays` gave; the constructor's arguments must be the same.

        The nodes mean nothing without the rule they were laid out by, so it comes with them: a
        later release may choose a better one.
        """
        step, reach = arrays["rule"].tolist()
        rule = Rule(step, int(reach))
        self._check_rule(rule)
        self._check_tiles(arrays)
        self._follow(rule)
        self._hold(len(arrays["pages"]) + 16, len(arrays["nodes"]) + 2 * self._most_new)
        self._take(arrays)
        return self

    def _check_rule(self, rule: Rule) -> None:
        sound = 2 <= rule.reach <= MOST_REACH and 0.0 < rule.step <= 1.0
        require(
            sound and rule.error(self.dimensions) <= self.tolerance,
            f"{rule} does not keep the tolerance {self.tolerance}",
        )

    def _check_tiles(self, arrays: Mapping[str, FloatArray | IntArray]) -> None:
        pages, count = arrays["pages"], len(arrays["nodes"])
        page = places.KEY + self._size
        check_shapes(arrays, pages=(len(pages), page), nodes=(count, 2, self._size))
        tiles = pages[:, places.KEY :]
        listed = bool(((tiles >= 0) & (tiles < count)).all())
        require(listed, f"its pages list tiles beyond the {count} that it has")
        require(len(pages) > 0 and not pages[0].any(), "its page 0 is not empty")

    @property
    def nbytes(self) -> int:
        """The size of the state: what `arrays` gives, in bytes."""
        return self._bytes(*self._counts())

    def _bytes(self, pages: int, tiles: int) -> int:
        return 8 * (pages * (places.KEY + self._size) + tiles * 2 * self._size + 5)

    def _check(self, point: FloatArray) -> None:
        limit = places.FARTHEST * self.rule.step
        if not np.all(np.abs(point) < limit):
            raise ValueError(
                f"a lattice takes finite points within {limit:.1e} root length scales of the "
                f"origin, got {point}. Centre the features first."
            )

    def _make_room(self) -> None:
        pages, tiles = self._counts()
        needed = self._bytes(pages + SIDE, tiles + self._most_new)
        if needed > self.max_bytes:
            raise MemoryError(
                f"the lattice holds {tiles} tiles, and the next point could bring it to {needed} "
                f"bytes, more than max_bytes={self.max_bytes}: the points cover a large area in "
                "length scales. Use a longer length scale, KeepAll, a Dictionary, or "
                "Lattice(max_bytes=...)."
            )
        room = 2 * len(self._pages()), 2 * len(self._nodes(self._reals))
        arrays = self.arrays()
        self._hold(*room)
        self._take(arrays)

    def _hold(self, pages: int, tiles: int) -> None:
        """An empty lattice with that much room, in the arrays bound to the compiled calls."""
        places.lay_out(self._reals, self._wholes, self.rule, self.dimensions, pages, tiles)
        self._reals[places.WEIGHT] = self._weight
        self._reals[places.ROOTS : places.ROOTS + self.dimensions] = self._roots

    def _take(self, arrays: Mapping[str, FloatArray | IntArray]) -> None:
        pages, nodes = arrays["pages"], arrays["nodes"]
        self.rounds = int(arrays["rounds"])
        self.fade, self.clock = float(arrays["fade"]), float(arrays["clock"])
        self._wholes[places.PAGES], self._wholes[places.TILES] = len(pages), len(nodes)
        self._pages()[: len(pages)] = pages
        self._nodes(self._reals)[: len(nodes)] = nodes
        _list_pages(self._reals, self._wholes)

    def _counts(self) -> tuple[int, int]:
        return int(self._wholes[places.PAGES]), int(self._wholes[places.TILES])

    def _pages(self) -> IntArray:
        *_, pages = places.edges(self._reals, self._wholes)
        return self._wholes[pages:].reshape(-1, self._wholes[places.PAGE])

    def _nodes(self, reals: FloatArray) -> FloatArray:
        """By tile: its heights, its offsets."""
        _, _, nodes, end, _, _ = places.edges(reals, self._wholes)
        return reals[nodes:end].reshape(-1, 2, self._size)


_list_pages = entry(places.list_pages)
_value_at = entry(loops.value_at)
_values_at = entry(loops.values_at, value_at=jit(loops.value_at))
_add_at = entry(loops.add_at)
_fold = entry(loops.fold_all)
_evaluate_raw = entry(loops.evaluate_raw, brief=True, value_at=jit(loops.value_at))
_learn = entry(loops.learn, brief=True)
_replay: Any = entry(loops.replay)
