"""The roles of memory: a strategy that makes expansions, and an expansion that learns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from localarc.kernels import Kernel
from localarc.validation import FloatArray, IntArray

Arrays = Mapping[str, NDArray[Any]]


class LossCurve(Protocol):
    """What one round would have cost at any threshold."""

    def loss(self, threshold: float) -> float:
        """The loss of the set that a threshold makes."""

    def size(self, threshold: float) -> float:
        """The size of that set, NaN if unknown."""

    def min_threshold(self, loss: float = 0.0) -> float:
        """The smallest threshold whose loss is at most this."""


class LossCurves(Protocol):
    """What a stream of rounds would have cost at any threshold, as `localarc.curves` packs it."""

    @property
    def breakpoints(self) -> FloatArray:
        """Where losses change; each round starts with minus infinity."""

    @property
    def losses(self) -> FloatArray:
        """The loss from each breakpoint on."""

    @property
    def offsets(self) -> IntArray:
        """Where each round starts, and where the last one ends."""

    def loss_at(self, t: int, threshold: float) -> float:
        """The loss of round t at a threshold."""

    def __getitem__(self, t: int) -> LossCurve:
        """The curve of round t."""

    def take(self, rounds: Any) -> LossCurves:
        """The curves of some rounds only."""


@dataclass(frozen=True)
class Rounds:
    """Rounds to play, and where the constant and the norm of f stand before them.

    The constant never falls below `floor`.
    """

    points: FloatArray
    curves: LossCurves
    rates: FloatArray
    decays: FloatArray
    alpha: float
    constant: float
    clip: float
    radius: float
    square: float
    floor: float = -math.inf


@dataclass(frozen=True)
class Played:
    """What came of them; `square` is |f|^2 after the last one, kept only with a radius."""

    thresholds: FloatArray
    losses: FloatArray
    square: float


class Expansion(Protocol):
    """The local part f of a threshold, as it runs, with the sum of its past for the average."""

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each of (n, d) points."""

    def evaluate_one(self, point: FloatArray) -> float:
        """f at one point, (d,) of float64; NaN if the point is not finite and in range."""

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all f that were accumulated, at each of (n, d) points."""

    @property
    def rounds(self) -> int:
        """The number of rounds learned, each of which let f join the average."""

    def learn(
        self, point: FloatArray, decay: float, weight: float, projection: float = 1.0
    ) -> bool:
        """One round: accumulate, shrink by decay, add `weight * k(point, .)`, shrink by projection.

        It answers False, and learns nothing, for a point that is not finite and in range. It is
        atomic: after any exception, also one from outside such as KeyboardInterrupt, all of the
        round has happened or nothing, and `rounds` shows which.
        """

    def try_learn_fast(self, point: FloatArray, decay: float, weight: float) -> bool:
        """`learn`, or False and no change where it would take longer than a step."""

    def replay(self, rounds: Rounds) -> Played:
        """Play many rounds: as if one by one, and leave f where the last one left it."""

    def arrays(self) -> Arrays:
        """Everything needed to resume, bit for bit."""

    def restore(self, arrays: Arrays) -> Self:
        """Take over what `arrays` gave."""

    @property
    def nbytes(self) -> int:
        """Size of the state."""


class Memory(Protocol):
    """How the local part is stored: a small frozen value that makes expansions.

    Examples
    --------
    >>> from localarc import KeepAll, Lattice
    >>> KeepAll().exact, Lattice().window
    (True, None)
    """

    def check_kernel(self, kernel: Kernel) -> None:
        """Raise if the strategy cannot serve this kernel, regardless of the number of features."""

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion, f = 0."""

    def chosen(self, kernel: Kernel, dimension: int) -> Memory:
        """The strategy for this kernel and number of features: itself, unless "auto"."""

    @property
    def window(self) -> int | None:
        """How many of the latest terms f holds; None when it holds all."""

    @property
    def averages(self) -> bool:
        """Whether enough is kept for the time-averaged threshold."""

    @property
    def exact(self) -> bool:
        """Whether f follows eq. (kernel_update), with a kernel that may exceed ours a little."""

    @property
    def excess(self) -> float:
        """By which share of its scale the kernel in use may exceed ours."""
