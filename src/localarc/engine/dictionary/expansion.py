"""An expansion on a dictionary of atoms: any kernel, any number of features, bounded memory."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from localarc.engine.dictionary import loops as loops
from localarc.engine.dictionary.flush import flush
from localarc.engine.dictionary.probes import Probes
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

# What one flush may lose, in tolerances: at the points it flushes, and in the kernel's norm. Both
# come from experience: what many flushes lose adds up, and most of it lies where points have not
# been yet, which only the norm sees.
AT_POINTS = 1 / 100
IN_NORM = 2.0


class DictionaryExpansion:
    """f on atoms chosen from the points, with the last 256 points at most kept exactly.

    `tolerance` is meant for the value of f over a whole run. What is held to a limit is what one
    flush loses: a hundredth of it at the points flushed, and twice the tolerance anywhere. What
    that adds up to is measured (`max_error_estimate`) and, far above, bounded (`error_bound`).
    Once `max_size` atoms are used, no more are made: flushes then lose more than their limit, and
    both numbers show it.
    """

    def __init__(
        self,
        profile: Profile,
        dimensions: int,
        tolerance: float = 1e-4,
        scale: float = 1.0,
        max_size: int = 1024,
        roots: FloatArray | None = None,
    ) -> None:
        self.profile = profile
        self.dimensions = dimensions
        self.tolerance = tolerance
        self.scale = scale
        self.max_size = max_size
        self.size = self.held = self.rounds = 0  # atoms, points in the buffer, rounds averaged
        self.fade, self.clock = 1.0, 0.0
        self.max_error_estimate = 0.0
        self._looked = b""  # the point whose kernel rows wait in row `held`
        tiles = tiles_for(max_size)
        self._atoms = np.zeros((tiles, dimensions, TILE))
        self._coefs = np.zeros((2, tiles * TILE))
        self._factor = np.zeros((max_size, max_size))
        self._to_atoms = np.zeros((TILE + 1, tiles * TILE))
        self._to_buffer = np.zeros((TILE + 1, TILE))
        self._buffer = np.zeros((dimensions + 3, TILE))
        self._probes = Probes(dimensions)
        self._ones = np.ones(dimensions)
        self._roots = self._ones if roots is None else roots
        self._value_at = specialise(loops.value_at, profile, dimensions)
        raw = specialise(loops.evaluate_raw, profile, dimensions, loops.value_at)
        tables = self._atoms, self._coefs, self._to_atoms, self._to_buffer, self._buffer
        self._evaluate_raw = bound(
            raw, (*tables, self._roots, profile.parameter), WHOLE, WHOLE, POINT
        )
        self._append = bound(_append, (self._buffer, self._roots), WHOLE, POINT, NUMBER, NUMBER)

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        return self.fade * self._sums(points, self.size, self._coefs, self._buffer)

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        self._looked = b""
        return self.fade * self._value_at(  # type: ignore[no-any-return]
            self.size, self.held, self._atoms, self._coefs, self._to_atoms, self._to_buffer,
            self._buffer, point, self.profile.parameter,
        )  # fmt: skip

    def accumulate(self) -> None:
        """Let the present f join the sum that the average reads."""
        self.clock += self.fade
        self.rounds += 1

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        self.fade *= factor
        if self.fade < loops.FAINT:
            _fold(self._coefs, self._probes.truths, self._buffer, self.fade, self.clock)
            self.fade, self.clock = 1.0, 0.0

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .)."""
        self.evaluate_one(point)
        _append(self._buffer, self._ones, self.held, point, self._lifted(weight), self.clock)
        self._advance()

    def learn(self, point: FloatArray, decay: float, weight: float) -> None:
        """One round: f joins the average, shrinks, and gains a term."""
        self.accumulate()
        self.shrink(decay)
        self.add(point, weight)

    def evaluate_raw(self, point: FloatArray) -> float:
        """f at a point that is still to be divided by the roots; NaN if it is not healthy."""
        value: float = self.fade * self._evaluate_raw(self.size, self.held, point)
        self._looked = point.tobytes() if value == value else b""
        return value

    def learn_raw(self, point: FloatArray, decay: float, weight: float) -> bool:
        """`learn` for such a point; False, and nothing learnt, if it is not healthy."""
        if point.tobytes() != self._looked and math.isnan(self.evaluate_raw(point)):
            return False
        self.clock += self.fade
        self.rounds += 1
        self.shrink(decay)
        self._append(self.held, point, self._lifted(weight), self.clock)
        self._advance()
        return True

    def _lifted(self, weight: float) -> float:
        return weight * self.scale / self.fade

    def _advance(self) -> None:
        """The buffer holds one more, with the kernel rows that the last look at it left behind."""
        self._looked = b""
        self.held += 1
        if self.held == TILE:
            self._settle()

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all f that were accumulated, at each row of `points`."""
        weights, joined, folded = self._buffer[self.dimensions :]
        buffer = self._buffer.copy()
        buffer[self.dimensions] = folded + weights * (self.clock - joined)
        past = self.clock * self._coefs[:1] + self._coefs[1:]
        return self._sums(points, self.size, past, buffer) / max(self.rounds, 1)

    @property
    def error_bound(self) -> float:
        """A bound, at every point, on how far f is from the exact sum of the same terms.

        It adds up the norms of all that flushes lost, holds up to rounding, and is usually hundreds
        of times `max_error_estimate`, which is measured at 32 points around the ones seen.
        """
        return self.fade * float(self._probes.truths[-1]) * math.sqrt(self.profile.peak)

    def replay(self, stream: Stream) -> Played:
        """Play the whole stream from the present state, and stay where its last round leaves f."""
        play = specialise(loops.replay, self.profile, self.dimensions, loops.value_at)
        tables = (
            self._atoms, self._coefs, self._to_atoms, self._to_buffer, self._buffer,
            self._probes.truths,
        )  # fmt: skip
        rules = stream.rules(self.scale, self.profile)
        played = stream.unplayed()
        self._looked = b""
        done = 0
        while done < len(stream):
            rest = slice(done, len(stream))
            steps, self.held, self.fade, self.clock, played.constant, played.norm = play(
                tables,
                (self.size, self.held),
                (self.fade, self.clock, played.constant, played.norm),
                rules,
                *stream.columns(rest),
                played.thresholds[rest],
                played.losses[rest],
            )
            if self.held == TILE:
                self._settle()
            done += steps
        self.rounds += len(stream)
        return played

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """Everything needed to go on bit for bit."""
        scalars = {
            "rounds": self.rounds,
            "flushes": self._probes.flushes,
            "fade": self.fade,
            "clock": self.clock,
            "max_error_estimate": self.max_error_estimate,
        }
        return {
            "atoms": unpack(self._atoms, self.size),
            "coefs": self._coefs[:, : self.size].copy(),
            "factor": self._factor[np.tril_indices(self.size)],
            "buffer": self._buffer[:, : self.held].copy(),
            "probes": self._probes.points.copy(),
            "truths": self._probes.truths.copy(),
            **{name: np.array(value) for name, value in scalars.items()},
        }

    def restore(self, arrays: Mapping[str, FloatArray | IntArray]) -> Self:
        """Take over a state that `arrays` gave; the constructor's arguments must be the same."""
        size, held = len(arrays["atoms"]), arrays["buffer"].shape[-1]
        require(size <= self.max_size and held < TILE, f"it has {size} atoms and {held} points")
        check_shapes(
            arrays,
            atoms=(size, self.dimensions),
            coefs=(2, size),
            factor=(size * (size + 1) // 2,),
            buffer=(self.dimensions + 3, held),
            probes=self._probes.points.shape,
            truths=self._probes.truths.shape,
        )
        self.size, self.rounds = size, int(arrays["rounds"])
        self.max_error_estimate = float(arrays["max_error_estimate"])
        self.fade, self.clock = float(arrays["fade"]), float(arrays["clock"])
        self._atoms[: tiles_for(self.size)] = pack(np.asarray(arrays["atoms"], np.float64))
        self._coefs[:] = self._buffer[:] = 0.0
        self._coefs[:, : self.size] = arrays["coefs"]
        self._factor[np.tril_indices(self.size)] = arrays["factor"]
        self._probes.points[:], self._probes.truths[:] = arrays["probes"], arrays["truths"]
        self._probes.flushes = int(arrays["flushes"])
        for self.held, column in enumerate(arrays["buffer"].T):
            self.evaluate_one(np.ascontiguousarray(column[: self.dimensions]))  # its kernel rows
            self._buffer[:, self.held] = column
        self.held = held
        self._looked = b""
        return self

    @property
    def nbytes(self) -> int:
        """The size of the state: what `arrays` gives, in bytes."""
        return sum(array.nbytes for array in self.arrays().values())

    def _settle(self) -> None:
        """Empty the full buffer into the dictionary, and measure what that did."""
        points = self._buffer[: self.dimensions].T
        self._probes.before(points, lambda at: self._sums(at, 0, self._coefs, self._buffer))
        allowed = self.tolerance / self.fade
        self.size, lost, norm = _flush(
            self._atoms, self._coefs, self._factor, self._to_atoms, self._to_buffer, self._buffer,
            self.size, AT_POINTS * allowed, IN_NORM * allowed, self.profile.peak,
        )  # fmt: skip
        self.held = 0
        off = self._probes.after(
            points, lambda at: self._sums(at, self.size, self._coefs, self._buffer), norm
        )
        largest = self.fade * max(off, float(np.abs(lost).max()))
        self.max_error_estimate = max(self.max_error_estimate, largest)
        self._buffer[self.dimensions :] = 0.0

    def _sums(self, points: FloatArray, size: int, coefs: Any, buffer: FloatArray) -> FloatArray:
        self._looked = b""
        values_at = specialise(loops.values_at, self.profile, self.dimensions, loops.value_at)
        return values_at(  # type: ignore[no-any-return]
            size, self.held, self._atoms, coefs, self._to_atoms, self._to_buffer, buffer,
            plain(points), self.profile.parameter,
        )  # fmt: skip


_fold = entry(loops.fold)
_append = entry(loops.append, brief=True)
_flush = entry(flush)
