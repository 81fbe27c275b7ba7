"""What an expansion is given to replay, and what it gives back."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc.engine.kernels import Profile
from localarc.engine.tiles import FloatArray, IntArray, plain


@dataclass(slots=True)
class Played:
    """The rounds played, and the two numbers that carry on beside f: c and |f|^2."""

    thresholds: FloatArray
    losses: FloatArray
    constant: float
    norm: float


@dataclass(frozen=True, slots=True)
class Stream:
    """T rounds in plain arrays. Round t owns entries offsets[t]:offsets[t + 1] of its curve.

    `points` are already divided by the root of the length scale. `norm` is |f|^2 at the start,
    read only when a finite `radius` keeps f in a ball.
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

    def __len__(self) -> int:
        return len(self.points)

    def unplayed(self) -> Played:
        """Room for what will be played."""
        rounds = len(self)
        return Played(np.empty(rounds), np.empty(rounds), self.constant, self.norm)

    def rules(self, scale: float, profile: Profile) -> tuple[float, ...]:
        """The numbers that do not change from round to round, in the loops' order."""
        peak = scale * profile.peak
        return self.alpha, self.clip, self.radius, scale, peak, profile.parameter

    def parts(self, length: int) -> Iterator[slice]:
        """The rounds, at most `length` at a time."""
        for start in range(0, len(self), max(length, 1)):
            yield slice(start, min(start + length, len(self)))

    def columns(self, part: slice) -> tuple[Any, ...]:
        """The rounds of `part`, in the loops' order."""
        offsets = np.require(self.offsets[part.start : part.stop + 1], np.int64, ["C", "W"])
        curves = plain(self.breakpoints), plain(self.losses), offsets
        return plain(self.points[part]), curves, plain(self.rates[part]), plain(self.decays[part])
