"""An expansion on a dictionary of atoms: any kernel, any number of features, bounded memory."""

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from localarc.engine.dictionary import loops
from localarc.engine.dictionary.flush import flush
from localarc.engine.dictionary.probes import Probes
from localarc.engine.kernels import Profile
from localarc.engine.numba_tools import FLOAT, INTEGER, POINT, bind_state, compile_entry
from localarc.engine.step import MIN_FADE, check_shapes, require
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

# The error that one flush may make, in tolerances: at the points it flushes, and in the kernel's
# norm. Both were found by experiment: the errors of many flushes add up, and most of the error lies
# where no point has been yet, which only the norm measures.
AT_POINTS = 1 / 100
IN_NORM = 2.0


class DictionaryExpansion:
    """f on atoms chosen from the points, with the last 256 points at most kept exactly.

    `tolerance` is the error of f over a whole run. The code limits the error of one flush: a
    hundredth of the tolerance at the points flushed, and twice the tolerance in norm. The total is
    measured (`max_error_estimate`) and, with a wide margin, bounded (`error_bound`). Beyond
    `max_size` atoms no more are added: flushes then exceed their limit, and both numbers show it.
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
        self._evaluated = b""  # the point whose kernel rows are in row `held`
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
        self._evaluate_raw = bind_state(
            raw, (*tables, self._roots, profile.parameter), INTEGER, INTEGER, POINT
        )
        self._append = bind_state(
            _append, (self._buffer, self._roots), INTEGER, POINT, FLOAT, FLOAT
        )

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        return self.fade * self._sums(points, self.size, self._coefs, self._buffer)

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        self._evaluated = b""
        return self.fade * self._value_at(  # type: ignore[no-any-return]
            self.size, self.held, self._atoms, self._coefs, self._to_atoms, self._to_buffer,
            self._buffer, point, self.profile.parameter,
        )  # fmt: skip

    def accumulate(self) -> None:
        """Add the current f to the sum behind the average."""
        self.clock += self.fade
        self.rounds += 1

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        self.fade *= factor
        if self.fade < MIN_FADE:
            _fold(self._coefs, self._probes.truths, self._buffer, self.fade, self.clock)
            self.fade, self.clock = 1.0, 0.0

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .)."""
        self.evaluate_one(point)
        _append(
            self._buffer, self._ones, self.held, point, self._unscaled_weight(weight), self.clock
        )
        self._advance()

    def learn(self, point: FloatArray, decay: float, weight: float) -> None:
        """One round: add f to the average, shrink it, and add a term."""
        self.accumulate()
        self.shrink(decay)
        self.add(point, weight)

    def evaluate_raw(self, point: FloatArray) -> float:
        """f at a raw point, before division by the roots; NaN unless finite and in range."""
        value: float = self.fade * self._evaluate_raw(self.size, self.held, point)
        self._evaluated = point.tobytes() if value == value else b""
        return value

    def learn_raw(self, point: FloatArray, decay: float, weight: float) -> bool:
        """`learn` for a raw point; False, and nothing learned, unless it is finite and in range."""
        if point.tobytes() != self._evaluated and math.isnan(self.evaluate_raw(point)):
            return False
        self.clock += self.fade
        self.rounds += 1
        self.shrink(decay)
        self._append(self.held, point, self._unscaled_weight(weight), self.clock)
        self._advance()
        return True

    def _unscaled_weight(self, weight: float) -> float:
        return weight * self.scale / self.fade

    def _advance(self) -> None:
        """Count the point just appended; the last evaluation left its kernel rows in place."""
        self._evaluated = b""
        self.held += 1
        if self.held == TILE:
            self._flush_buffer()

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all accumulated f, at each row of `points`."""
        weights, joined, folded = self._buffer[self.dimensions :]
        buffer = self._buffer.copy()
        buffer[self.dimensions] = folded + weights * (self.clock - joined)
        past = self.clock * self._coefs[:1] + self._coefs[1:]
        return self._sums(points, self.size, past, buffer) / max(self.rounds, 1)

    @property
    def error_bound(self) -> float:
        """A bound, at every point, on the distance of f from the exact sum of the same terms.

        It sums the norms of all flush errors, holds up to rounding, and is usually hundreds of
        times `max_error_estimate`, which is measured at 32 points around the ones seen.
        """
        return self.fade * float(self._probes.truths[-1]) * math.sqrt(self.profile.peak)

    def replay(self, stream: Stream) -> Played:
        """Replay the whole stream from the current state; f ends where the last round leaves it."""
        play = specialise(loops.replay, self.profile, self.dimensions, loops.value_at)
        tables = (
            self._atoms, self._coefs, self._to_atoms, self._to_buffer, self._buffer,
            self._probes.truths,
        )  # fmt: skip
        rules = stream.rules(self.scale, self.profile)
        played = stream.empty_result()
        self._evaluated = b""
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
                self._flush_buffer()
            done += steps
        self.rounds += len(stream)
        return played

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """Everything needed to resume, bit for bit."""
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
        """Load a state that `arrays` returned; the constructor's arguments must be the same."""
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
        self._evaluated = b""
        return self

    @property
    def nbytes(self) -> int:
        """The size of the state in bytes: that of what `arrays` returns."""
        return sum(array.nbytes for array in self.arrays().values())

    def _flush_buffer(self) -> None:
        """Flush the full buffer into the dictionary, and measure the error."""
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
        self._evaluated = b""
        values_at = specialise(loops.values_at, self.profile, self.dimensions, loops.value_at)
        return values_at(  # type: ignore[no-any-return]
            size, self.held, self._atoms, coefs, self._to_atoms, self._to_buffer, buffer,
            as_contiguous(points), self.profile.parameter,
        )  # fmt: skip


_fold = compile_entry(loops.fold)
_append = compile_entry(loops.append, keep_gil=True)
_flush = compile_entry(flush)
