"""What a memory strategy promises: an expansion that can shrink, add, evaluate and average."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from localarc.checks import FloatArray
from localarc.control.kernels import Kernel

Arrays = Mapping[str, NDArray[Any]]


class Expansion(Protocol):
    """The local part f of a threshold, as it runs, with the sum of its past for the average."""

    def evaluate(self, points: FloatArray) -> FloatArray:
        """f at each of (n, d) points."""

    def average(self, points: FloatArray) -> FloatArray:
        """The mean of all f that were accumulated, at each of (n, d) points."""

    def accumulate(self) -> None:
        """Let the present f join the average."""

    def shrink(self, factor: float) -> None:
        """f <- factor * f, with 0 < factor <= 1."""

    def add(self, point: FloatArray, weight: float) -> None:
        """f <- f + weight * k(point, .)."""

    def arrays(self) -> Arrays:
        """All that is needed to go on, bit for bit."""

    def restore(self, arrays: Arrays) -> Self:
        """Take over what `arrays` gave."""

    @property
    def nbytes(self) -> int:
        """Size of the state."""


class Memory(Protocol):
    """How an expansion remembers: a small frozen value that makes expansions."""

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion, f = 0."""

    @property
    def window(self) -> int | None:
        """How many of the latest terms f holds; None when it holds all."""
