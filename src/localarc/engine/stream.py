"""The input and the result of a replay."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc.engine.kernels import Profile
from localarc.engine.tiles import FloatArray, IntArray, as_contiguous


@dataclass(slots=True)
class Played:
    """The thresholds and losses of a replay, and the final c and |f|^2."""

    thresholds: FloatArray
    losses: FloatArray
    constant: float
    norm: float


@dataclass(frozen=True, slots=True)
class Stream:
    """T rounds as arrays. The curve of round t is in entries offsets[t]:offsets[t + 1].

    `points` are already divided by the roots of the kernel's denominators. `norm` is |f|^2 at the
    start, used only when a finite `radius` bounds |f|. The constant never falls below `floor`.
    """

    points: FloatArray
    breakpoints: FloatArray
    losses: FloatArray
    offsets: IntArray
    rates: FloatArray
    decays: FloatArray
    alpha: float
    constant: float = 0.0
    clip: float = np.inf
    radius: float = np.inf
    norm: float = 0.0
    floor: float = -np.inf

    def __len__(self) -> int:
        return len(self.points)

    def empty_result(self) -> Played:
        """A result with uninitialised arrays, to be filled by a replay."""
        rounds = len(self)
        return Played(np.empty(rounds), np.empty(rounds), self.constant, self.norm)

    def rules(self, scale: float, profile: Profile) -> tuple[float, ...]:
        """The numbers that do not change from round to round, in the loops' order."""
        peak = scale * profile.peak
        limits = self.floor, self.clip, self.radius
        return self.alpha, *limits, scale, peak, profile.parameter

    def parts(self, length: int) -> Iterator[slice]:
        """The rounds, at most `length` at a time."""
        for start in range(0, len(self), max(length, 1)):
            yield slice(start, min(start + length, len(self)))

    def columns(self, part: slice) -> tuple[Any, ...]:
        """The rounds of `part`, in the loops' order."""
        offsets = np.require(self.offsets[part.start : part.stop + 1], np.int64, ["C", "W"])
        curves = as_contiguous(self.breakpoints), as_contiguous(self.losses), offsets
        return (
            as_contiguous(self.points[part]),
            curves,
            as_contiguous(self.rates[part]),
            as_contiguous(self.decays[part]),
        )
