"""An expansion as a list of terms: f = fade * sum_i weight_i k(centre_i, .)."""

from __future__ import annotations

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
        self._accumulated = 0

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
        return self._sum(points, self._centres[kept], self._past(kept) / max(self._accumulated, 1))

    def learn(self, point: FloatArray, decay: float, weight: float) -> bool:
        """One round: accumulate, shrink by decay, add; a kernel must keep to its stated scale."""
        if not _in_range(point):
            return False
        peak = float(self._kernel.matrix(point[None], point[None])[0, 0])
        scale = self._kernel.scale
        if peak < 0 or (scale is not None and peak > scale * (1 + 1e-12)):
            raise ValueError(
                f"the kernel is {peak} at an input and itself, which must lie between 0 and its "
                f"scale {scale}. State a larger scale, or mend the function."
            )
        self.accumulate()
        self.shrink(decay)
        self.add(point, weight)
        return True

    try_learn_fast = learn

    def replay(self, rounds: Rounds) -> Played:
        """Play rounds one by one: only Python can evaluate this kernel."""
        return play(self, self._kernel, rounds)

    def accumulate(self) -> None:
        """Let the present f join the average."""
        self._clock += self._fade
        self._accumulated += 1

    def shrink(self, factor: float) -> None:
        """f <- factor * f."""
        self._fade *= factor
        if self._fade < _SMALLEST_FADE:
            self._renormalise()

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight * k(point, .); the oldest term leaves a full window."""
        if self._stop == len(self._weights):
            self._make_room()
        at = self._stop
        self._centres[at] = point
        self._weights[at] = weight / self._fade
        self._joined[at] = self._clock
        self._folded[at] = 0.0
        self._stop += 1
        if self._window is not None and self._stop - self._first > self._window:
            self._fold(slice(self._first, self._first + 1))
            self._weights[self._first] = 0.0
            self._first += 1

    def arrays(self) -> Arrays:
        """Everything needed to resume, bit for bit."""
        kept = slice(0 if self._archive else self._first, self._stop)
        return {
            "centres": self._centres[kept].copy(),
            "weights": self._weights[kept].copy(),
            "joined": self._joined[kept].copy(),
            "folded": self._folded[kept].copy(),
            "scalars": np.array([self._fade, self._clock]),
            "counts": np.array([self._first - kept.start, self._accumulated], dtype=np.int64),
        }

    def restore(self, arrays: Arrays) -> Self:
        """Take over what `arrays` gave."""
        self._centres = np.array(arrays["centres"], dtype=np.float64)
        self._weights = np.array(arrays["weights"], dtype=np.float64)
        self._joined = np.array(arrays["joined"], dtype=np.float64)
        self._folded = np.array(arrays["folded"], dtype=np.float64)
        self._fade, self._clock = (float(value) for value in arrays["scalars"])
        self._first, self._accumulated = (int(value) for value in arrays["counts"])
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

    def _fold(self, terms: slice) -> None:
        self._folded[terms] = self._past(terms)
        self._joined[terms] = self._clock

    def _renormalise(self) -> None:
        # Under strong decay clock - joined would cancel: fold the past in, restart the clock.
        kept = slice(0, self._stop)
        self._fold(kept)
        self._joined[kept] = 0.0
        self._weights[kept] *= self._fade
        self._clock = 0.0
        self._fade = 1.0

    def _make_room(self) -> None:
        """Double the arrays, or slide the window to the front when the past is not archived."""
        kept = slice(0 if self._archive else self._first, self._stop)
        size = self._stop - kept.start
        self._first -= kept.start
        self._stop = size
        for name in ("_centres", "_weights", "_joined", "_folded"):
            old = getattr(self, name)
            new = np.zeros((max(16, 2 * size), *old.shape[1:]))
            new[:size] = old[kept]
            setattr(self, name, new)


def _in_range(point: FloatArray) -> bool:
    """Whether every coordinate is finite and accepted: what `validation.point` checks."""
    return bool((np.abs(point) <= LARGEST).all())
