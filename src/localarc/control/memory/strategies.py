"""Memory strategies: what the local part of a threshold remembers."""

from __future__ import annotations

from dataclasses import dataclass

from localarc import checks
from localarc.control.kernels import Kernel
from localarc.control.memory.role import Expansion
from localarc.control.memory.terms import Terms


@dataclass(frozen=True)
class KeepAll:
    """Every round, exactly as in the paper: memory and time per round grow with t."""

    @property
    def window(self) -> int | None:
        """All terms count."""
        return None

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion, f = 0."""
        return Terms(kernel, dimension, window=None, archive=True)


@dataclass(frozen=True)
class KeepLast:
    """The latest m rounds, the paper's eq. (threshold_truncated).

    With a decaying rate, what m rounds can hold fades as t grows, and L-ARC turns into ARC: see the
    guarantees page. The time-averaged threshold still depends on every round that ever was in the
    window; `archive=True` keeps those for the average alone, so the state grows with t although a
    step does not get slower. With `archive=False` the state is bounded and `average` raises.
    """

    m: int
    archive: bool = True

    def __post_init__(self) -> None:
        hint = "It is the number of latest rounds to keep, e.g. 1000."
        object.__setattr__(self, "m", checks.whole("m", self.m, 1, hint))

    @property
    def window(self) -> int | None:
        """The latest m terms count."""
        return self.m

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion, f = 0."""
        return Terms(kernel, dimension, window=self.m, archive=self.archive)
