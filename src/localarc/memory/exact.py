"""Memory strategies that keep the terms of the local part as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from localarc import validation
from localarc.kernels import Kernel, Stationary
from localarc.memory.base import Expansion
from localarc.memory.compiled_expansion import CompiledExpansion, profile, roots, warn_slow_kernel
from localarc.memory.python_expansion import PythonExpansion

_MOST_TERMS = 2**62 - 1  # compiled loops count terms in 64 bits


@dataclass(frozen=True)
class _Terms:
    """The strategies that keep the terms as they are."""

    @property
    def window(self) -> int | None:
        """All terms count."""
        return None

    @property
    def averages(self) -> bool:
        """Whether enough is kept for the time-averaged threshold."""
        return True

    @property
    def exact(self) -> bool:
        """Whether f follows eq. (kernel_update)."""
        return self.window is None

    @property
    def excess(self) -> float:
        """The kernel in use is ours."""
        return 0.0

    def chosen(self, kernel: Kernel, dimension: int) -> Self:
        """This strategy."""
        return self

    def check_kernel(self, kernel: Kernel) -> None:
        """Accept any kernel."""

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion, f = 0, in the engine if it knows the kernel's formula."""
        formula = profile(kernel, dimension)
        if formula is None or not isinstance(kernel, Stationary):
            warn_slow_kernel()
            return PythonExpansion(kernel, dimension, self.window, self.averages)

        from localarc.engine import ExactExpansion

        rules = kernel.scale, self.window, self.averages
        made = ExactExpansion(formula, dimension, *rules, roots(kernel, dimension))
        return CompiledExpansion(self, kernel, dimension, made)


@dataclass(frozen=True)
class KeepAll(_Terms):
    """Every round, exactly as in the paper: memory and time per round grow with t.

    Examples
    --------
    >>> from localarc import LARC, RBF
    >>> LARC(0.1, RBF(1.0), memory=KeepAll()).update([0.0], 1.0).memory
    KeepAll()
    """


@dataclass(frozen=True)
class KeepLast(_Terms):
    """The latest m rounds, the paper's eq. (threshold_truncated).

    With a decaying rate, the influence of m rounds fades as t grows, and L-ARC turns into ARC: see
    the guarantees page.

    Parameters
    ----------
    m : int
        The number of latest rounds that the local part consists of.
    archive : bool, default True
        Whether to keep older rounds for the time-averaged threshold, which depends on every round
        that was ever in the window: the state then grows with t, although a step does not get
        slower. Without it the state is bounded, and `averaged_threshold_function` raises.

    Examples
    --------
    >>> from localarc import LARC, RBF
    >>> LARC(0.1, RBF(1.0), memory=KeepLast(1000, archive=False)).memory
    KeepLast(m=1000, archive=False)

    References
    ----------
    Zecchin and Simeone, *Localized adaptive risk control*, NeurIPS 2024, section 3.
    """

    m: int
    archive: bool = True

    def __post_init__(self) -> None:
        hint = "It is the number of latest rounds to keep, e.g. 1000."
        checked = validation.integer("m", self.m, 1, hint, maximum=_MOST_TERMS)
        object.__setattr__(self, "m", checked)
        hint = "With True, older rounds are kept for the average."
        object.__setattr__(self, "archive", validation.flag("archive", self.archive, hint))

    @property
    def window(self) -> int | None:
        """The latest m terms count."""
        return self.m

    @property
    def averages(self) -> bool:
        """Whether terms that left the window are kept for the average."""
        return self.archive
