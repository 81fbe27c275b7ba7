"""An expansion on a dictionary of atoms: any kernel, any number of features, bounded memory."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from localarc.engine.addresses import address_of, table_of
from localarc.engine.dictionary import loops
from localarc.engine.dictionary.probes import PROBES
from localarc.engine.kernels import Profile
from localarc.engine.numba_tools import FLOAT, INTEGER, POINT, bind_state, compile_entry
from localarc.engine.step import check_shapes, require
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
        tiles = tiles_for(max_size)
        self._atoms = np.zeros((tiles, dimensions, TILE))
        self._coefs = np.zeros((2, tiles * TILE))
        self._factor = np.zeros((max_size, max_size))
        self._to_atoms = np.zeros((TILE + 1, tiles * TILE))
        self._to_buffer = np.zeros((TILE + 1, TILE))
        self._buffer = np.zeros((dimensions + 3, TILE))
        self._probes = np.zeros((PROBES, dimensions))
        self._truths = np.zeros(PROBES + 1)
        self._numbers = self._initial_numbers(roots)
        self._bind()

    def _initial_numbers(self, roots: FloatArray | None) -> FloatArray:
        numbers = np.zeros(loops.ROOTS + 2 * self.dimensions)
        settings = self.tolerance, self.scale, self.profile.peak
        numbers[loops.FADE], numbers[loops.TOLERANCE : loops.LOST] = 1.0, settings
        numbers[loops.ROOTS :] = np.inf  # no point is evaluated yet
        numbers[loops.ROOTS : loops.ROOTS + self.dimensions] = 1.0 if roots is None else roots
        return numbers

    def _bind(self) -> None:
        """Compile the loops for this kernel, and bind them to the arrays, which never change."""
        profile, dimensions = self.profile, self.dimensions
        self._table = self._addresses()
        self._value_at = specialise(loops.value_at, profile, dimensions)
        evaluate = specialise(loops.evaluate_raw, profile, dimensions, loops.value_at)
        parts = loops.value_at, loops.evaluate_raw
        learn = specialise(loops.learn, profile, dimensions, *parts)
        arrays = *self._arrays, self._numbers, profile.parameter, self._table.ctypes.data
        atoms, coefs, _, to_atoms, to_buffer, buffer, _, _ = self._arrays
        read = atoms, coefs, to_atoms, to_buffer, buffer, self._numbers, profile.parameter
        # f at a raw point, before division by the roots, NaN unless finite and in range.
        self.evaluate_raw: Callable[[FloatArray], float] = bind_state(evaluate, read, POINT)
        self._learn = bind_state(learn, arrays, FLOAT, POINT, FLOAT, FLOAT)
        self.try_learn_fast: Callable[[FloatArray, float, float], bool]
        self.try_learn_fast = bind_state(learn, (*arrays, 1.0), POINT, FLOAT, FLOAT)

    def _addresses(self) -> IntArray:
        """The table that loops hand on: of the arrays, and of what flushes the buffer."""
        parts = loops.value_at, loops.values_at
        flush = specialise(loops.flush_buffer, self.profile, self.dimensions, *parts)
        functions = address_of(flush, INTEGER, FLOAT), address_of(_project, INTEGER, FLOAT, FLOAT)
        return table_of((*self._arrays, self._numbers), *functions)

    @property
    def _arrays(self) -> tuple[FloatArray, ...]:
        """The arrays, in the order of the loops."""
        return (
            self._atoms, self._coefs, self._factor, self._to_atoms, self._to_buffer, self._buffer,
            self._probes, self._truths,
        )  # fmt: skip

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
    def size(self) -> int:
        """The number of atoms."""
        return int(self._numbers.item(loops.SIZE))

    @property
    def held(self) -> int:
        """The number of points in the buffer."""
        return int(self._numbers.item(loops.HELD))

    @property
    def max_error_estimate(self) -> float:
        """The largest error of f that a flush measured."""
        return self._numbers.item(loops.ERROR)

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each row of `points`."""
        return self.fade * self._sums(points, self._coefs, self._buffer)

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point."""
        self._forget_evaluation()
        return self.fade * self._value_at(  # type: ignore[no-any-return]
            self.size, self.held, self._atoms, self._coefs, self._to_atoms, self._to_buffer,
            self._buffer, point, self.profile.parameter,
        )  # fmt: skip

    def accumulate(self) -> None:
        """Add the current f to the sum behind the average."""
        _accumulate(self._numbers)

    def shrink(self, factor: float) -> None:
        """f <- factor f, for 0 < factor <= 1."""
        _shrink(self._arrays, self._numbers, factor)

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight k(point, .)."""
        self.evaluate_one(point)
        self._buffer[: self.dimensions, self.held] = point
        address, parameter = self._table.ctypes.data, self.profile.parameter
        _add(address, self._arrays, self._numbers, parameter, weight)

    def learn_raw(
        self, point: FloatArray, decay: float, weight: float, projection: float = 1.0
    ) -> bool:
        """One round with a raw point: add f to the average, shrink it, add a term, project.

        False, and nothing learned, unless the point is finite and in range. It is one compiled
        call: an exception from outside, such as KeyboardInterrupt, finds all of it done or nothing.
        """
        return self._learn(projection, point, decay, weight)  # type: ignore[no-any-return]

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all accumulated f, at each row of `points`."""
        weights, joined, folded = self._buffer[self.dimensions :]
        buffer = self._buffer.copy()
        buffer[self.dimensions] = folded + weights * (self.clock - joined)
        past = self.clock * self._coefs[:1] + self._coefs[1:]
        return self._sums(points, past, buffer) / max(self.rounds, 1)

    @property
    def error_bound(self) -> float:
        """A bound, at every point, on the distance of f from the exact sum of the same terms.

        It sums the norms of all flush errors, holds up to rounding, and is usually hundreds of
        times `max_error_estimate`, which is measured at 32 points around the ones seen.
        """
        return self.fade * float(self._truths[-1]) * math.sqrt(self.profile.peak)

    def replay(self, stream: Stream) -> Played:
        """Replay the whole stream from the current state; f ends where the last round leaves it."""
        play = specialise(loops.replay, self.profile, self.dimensions, loops.value_at)
        rules = stream.rules(self.scale, self.profile)
        played = stream.empty_result()
        done = 0
        while done < len(stream):
            rest = slice(done, len(stream))
            steps, played.constant, played.norm = play(
                self._table.ctypes.data,
                self._arrays,
                self._numbers,
                (played.constant, played.norm),
                rules,
                *stream.columns(rest),
                played.thresholds[rest],
                played.losses[rest],
            )
            done += steps
        return played

    def arrays(self) -> dict[str, FloatArray | IntArray]:
        """Everything needed to resume, bit for bit."""
        scalars = {
            "rounds": self.rounds,
            "flushes": int(self._numbers[loops.FLUSHES]),
            "fade": self.fade,
            "clock": self.clock,
            "max_error_estimate": self.max_error_estimate,
        }
        return {
            "atoms": unpack(self._atoms, self.size),
            "coefs": self._coefs[:, : self.size].copy(),
            "factor": self._factor[np.tril_indices(self.size)],
            "buffer": self._buffer[:, : self.held].copy(),
            "probes": self._probes.copy(),
            "truths": self._truths.copy(),
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
            probes=self._probes.shape,
            truths=self._truths.shape,
        )
        self._atoms[: tiles_for(size)] = pack(np.asarray(arrays["atoms"], np.float64))
        self._coefs[:] = self._buffer[:] = 0.0
        self._coefs[:, :size] = arrays["coefs"]
        self._factor[np.tril_indices(size)] = arrays["factor"]
        self._probes[:], self._truths[:] = arrays["probes"], arrays["truths"]
        names = "fade", "clock", "rounds", "max_error_estimate", "flushes"
        fade, clock, rounds, error, flushes = (float(arrays[name]) for name in names)
        self._numbers[: loops.TOLERANCE] = fade, clock, rounds, size, 0, error, flushes
        for i, column in enumerate(arrays["buffer"].T):
            self.evaluate_one(np.ascontiguousarray(column[: self.dimensions]))  # its kernel rows
            self._buffer[:, i] = column
            self._numbers[loops.HELD] = i + 1
        return self

    @property
    def nbytes(self) -> int:
        """The size in bytes of what `arrays` returns."""
        return sum(array.nbytes for array in self.arrays().values())

    def _sums(self, points: FloatArray, coefs: Any, buffer: FloatArray) -> FloatArray:
        self._forget_evaluation()
        values_at = specialise(loops.values_at, self.profile, self.dimensions, loops.value_at)
        return values_at(  # type: ignore[no-any-return]
            self.size, self.held, self._atoms, coefs, self._to_atoms, self._to_buffer, buffer,
            as_contiguous(points), self.profile.parameter,
        )  # fmt: skip

    def _forget_evaluation(self) -> None:
        """Row `held` is about to be overwritten: no learning may rely on it."""
        self._numbers[loops.ROOTS + self.dimensions :] = np.inf


_accumulate = compile_entry(loops.accumulate)
_shrink = compile_entry(loops.shrink)
_add = compile_entry(loops.add)
_project = compile_entry(loops.project_buffer)
