"""An expansion as a list of terms: f = fade * sum_i weight_i k(centre_i, .)."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from localarc.kernels import Kernel
from localarc.memory.base import Arrays, Played, Rounds
from localarc.memory.stepwise import play
from localarc.validation import LARGEST, FloatArray

_SMALLEST_FADE = 1e-3
_PAIRS_AT_ONCE = 4_000_000


class PythonExpansion:
    """Terms of the expansion of eq. (threshold), all of them or the latest `window`.

    Decay is lazy: shrinking multiplies one number, `fade`. The average is lazy too: `clock` is the
    running sum of fades, so a term that joined when the clock showed j has by now contributed
    `weight * (clock - j)` to the sum of all past f. A term that leaves the window has that
    contribution folded in for good, and stays for the average only.

    A round is atomic. Python raises an exception from outside, such as KeyboardInterrupt, only
    after a call, at the start of a function and where a loop goes back, so everything is computed
    first, and then stored by assignments alone.
    """

    def __init__(self, kernel: Kernel, dimension: int, window: int | None, archive: bool) -> None:
        self._kernel = kernel
        self._window = window
        self._archive = archive
        self._centres = np.empty((16, dimension))
        self._weights, self._joined, self._folded = np.zeros((3, 16))
        self._first = self._stop = 0  # the terms of f are [first, stop); older ones are archived
        self._fade = 1.0
        self._clock = 0.0
        self.rounds = 0

    def __deepcopy__(self, memo: Any) -> PythonExpansion:
        # A user's function is shared: it may not be one that can be copied.
        twin = PythonExpansion(self._kernel, self._centres.shape[1], self._window, self._archive)
        return twin.restore(self.arrays())

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each of (n, d) points."""
        active = slice(self._first, self._stop)
        return self._fade * self._sum(points, self._centres[active], self._weights[active])

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point, (d,); NaN if the point is not finite and in range."""
        return float(self.evaluate(point[None])[0]) if _in_range(point) else np.nan

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all f that were accumulated, at each of (n, d) points."""
        kept = slice(0, self._stop)
        return self._sum(points, self._centres[kept], self._past(kept) / max(self.rounds, 1))

    def learn(
        self, point: FloatArray, decay: float, weight: float, projection: float = 1.0
    ) -> bool:
        """One round: accumulate, shrink by decay, add, shrink by projection; all or nothing."""
        if not _in_range(point):
            return False
        self._check_peak(point)
        self._make_room()
        clock, fade = self._clock + self._fade, self._fade * decay
        small = fade * projection < _SMALLEST_FADE
        target = self._copy() if small else self  # renormalisation changes every term
        if fade < _SMALLEST_FADE:
            clock, fade = target._renormalise(clock, fade)
        target._append(point, weight / fade, clock, fade * projection)
        if target._fade < _SMALLEST_FADE:
            target._clock, target._fade = target._renormalise(target._clock, target._fade)
        if small:
            vars(self).update(vars(target))  # one call, and no Python code inside
        return True

    try_learn_fast = learn

    def _check_peak(self, point: FloatArray) -> None:
        """Raise unless the kernel keeps to its stated scale."""
        peak = float(self._kernel.matrix(point[None], point[None])[0, 0])
        scale = self._kernel.scale
        if peak < 0 or (scale is not None and peak > scale * (1 + 1e-12)):
            raise ValueError(
                f"the kernel is {peak} at an input and itself, which must lie between 0 and its "
                f"scale {scale}. State a larger scale, or mend the function."
            )

    def _append(self, point: FloatArray, weight: float, clock: float, fade: float) -> None:
        """Store a round: its term, clock and fade; the oldest term leaves a full window.

        No call may stand below the first assignment to `self`: nothing can interrupt it then.
        """
        weights, joined, folded = self._weights, self._joined, self._folded
        first, stop = self._first, self._stop
        full = stop - first == self._window
        past = folded[first] + weights[first] * (clock - joined[first]) if full else 0.0
        self._centres[stop] = point
        weights[stop], joined[stop], folded[stop] = weight, clock, 0.0
        if full:
            weights[first], joined[first], folded[first] = 0.0, clock, past
            self._first = first + 1
        self._stop = stop + 1
        self._clock, self._fade = clock, fade
        self.rounds += 1

    def _copy(self) -> PythonExpansion:
        """A copy to change; centres are shared, because only unused ones are written."""
        twin = copy.copy(self)
        twin._weights = self._weights.copy()
        twin._joined = self._joined.copy()
        twin._folded = self._folded.copy()
        return twin

    def replay(self, rounds: Rounds) -> Played:
        """Play rounds one by one: only Python can evaluate this kernel."""
        return play(self, self._kernel, rounds)

    def arrays(self) -> Arrays:
        """Everything needed to resume, bit for bit."""
        kept = slice(0 if self._archive else self._first, self._stop)
        return {
            "centres": self._centres[kept].copy(),
            "weights": self._weights[kept].copy(),
            "joined": self._joined[kept].copy(),
            "folded": self._folded[kept].copy(),
            "scalars": np.array([self._fade, self._clock]),
            "counts": np.array([self._first - kept.start, self.rounds], dtype=np.int64),
        }

    def restore(self, arrays: Arrays) -> Self:
        """Take over what `arrays` gave."""
        self._centres = np.array(arrays["centres"], dtype=np.float64)
        self._weights = np.array(arrays["weights"], dtype=np.float64)
        self._joined = np.array(arrays["joined"], dtype=np.float64)
        self._folded = np.array(arrays["folded"], dtype=np.float64)
        self._fade, self._clock = (float(value) for value in arrays["scalars"])
        self._first, self.rounds = (int(value) for value in arrays["counts"])
        self._stop = len(self._weights)
        return self

    @property
    def nbytes(self) -> int:
        """Size of the state."""
        return sum(array.nbytes for array in self.arrays().values())

    def _sum(self, points: FloatArray, centres: FloatArray, weights: FloatArray) -> FloatArray:
        # Not a BLAS product: its summation order, and so the last bit, depends on its threads.
        rows = max(1, _PAIRS_AT_ONCE // max(1, len(centres)))
        blocks = [points[i : i + rows] for i in range(0, len(points), rows)]
        values = [(self._kernel.matrix(b, centres) * weights).sum(axis=1) for b in blocks]
        return np.concatenate(values) if values else np.zeros(0)

    def _past(self, terms: slice) -> FloatArray:
        since = self._clock - self._joined[terms]
        return np.asarray(self._folded[terms] + self._weights[terms] * since)

    def _renormalise(self, clock: float, fade: float) -> tuple[float, float]:
        """Fold the past in and multiply the weights by the fade; the clock and fade to go on with.

        Under strong decay clock - joined would cancel.
        """
        kept = slice(0, self._stop)
        self._folded[kept] += self._weights[kept] * (clock - self._joined[kept])
        self._joined[kept] = 0.0
        self._weights[kept] *= fade
        return 0.0, 1.0

    def _make_room(self) -> None:
        """Double full arrays, or slide the window to the front when the past is not archived."""
        if self._stop < len(self._weights):
            return
        start = 0 if self._archive else self._first
        arrays = self._centres, self._weights, self._joined, self._folded
        grown = [_enlarged(array[start : self._stop]) for array in arrays]
        self._centres, self._weights, self._joined, self._folded = grown
        self._first, self._stop = self._first - start, self._stop - start


def _enlarged(array: FloatArray) -> FloatArray:
    """A copy with room for twice as many rows."""
    size = len(array)
    new = np.zeros((max(16, 2 * size), *array.shape[1:]))
    new[:size] = array
    return new


def _in_range(point: FloatArray) -> bool:
    """Whether every coordinate is finite and accepted: what `validation.point` checks."""
    return bool((np.abs(point) <= LARGEST).all())
