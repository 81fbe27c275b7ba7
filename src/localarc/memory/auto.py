"""The automatic choice of a memory strategy."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from localarc.kernels import RBF, Kernel
from localarc.memory.approximate import ROUNDING, Lattice
from localarc.memory.base import Expansion, Memory
from localarc.memory.exact import KeepAll

MANY_TERMS = 20_000
_log = logging.getLogger("localarc")


@dataclass(frozen=True)
class Auto:
    """`memory="auto"`: a lattice at rounding accuracy for RBF in one or two dimensions, else exact.

    Beyond 20,000 rounds an exact memory recommends `Dictionary`, once, in the log.

    Examples
    --------
    >>> from localarc import LARC, RBF
    >>> LARC(0.1, RBF(1.0)).update([0.0, 1.0], 1.0).memory
    Lattice(tolerance=1e-15, max_bytes=268435456)
    """

    window = None
    averages = True
    exact = True
    excess = ROUNDING

    def chosen(self, kernel: Kernel, dimension: int) -> Memory:
        """The strategy for this kernel and this number of features."""
        return Lattice() if type(kernel) is RBF and dimension <= 2 else KeepAll()

    def check_kernel(self, kernel: Kernel) -> None:
        """Accept any kernel: there is a strategy for each."""

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion of the chosen strategy."""
        return self.chosen(kernel, dimension).expansion(kernel, dimension)


def as_memory(memory: Any) -> Memory:
    """A strategy as it is, or the automatic choice."""
    if isinstance(memory, str) and memory == "auto":
        return Auto()
    if isinstance(memory, type) or not hasattr(memory, "expansion"):
        raise ValueError(
            f'memory must be "auto" or a memory strategy, got {memory!r}. '
            "For example KeepAll(), KeepLast(1000) or Dictionary(1e-4)."
        )
    chosen: Memory = memory
    return chosen


def warn_memory_growth(rounds: int, memory: Memory, kernel: Kernel, dimension: int) -> None:
    """Log a warning that an automatic, exact memory has become large."""
    if isinstance(memory, Auto) and isinstance(memory.chosen(kernel, dimension), KeepAll):
        kilobytes = rounds * (dimension + 3) * 8 // 1000
        _log.warning(
            "after %d rounds the exact memory holds %d kB and a step takes time in proportion; "
            "LARC(..., memory=Dictionary(tolerance=1e-4)) bounds both, at a small error in the "
            "thresholds.",
            rounds,
            kilobytes,
        )
