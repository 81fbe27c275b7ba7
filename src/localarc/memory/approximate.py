"""Memory strategies whose cost does not grow with t."""

from __future__ import annotations

from dataclasses import dataclass

from localarc import validation
from localarc.kernels import RBF, Kernel, Stationary
from localarc.memory.base import Expansion, Memory
from localarc.memory.compiled_expansion import CompiledExpansion, profile, roots

ROUNDING = 1e-15


@dataclass(frozen=True)
class Lattice:
    """Constant memory for `RBF` in up to three dimensions, with a proven accuracy.

    The Gaussian kernel is replaced by an inner product of features on a lattice. Memory grows with
    the area that inputs cover, not with t.

    Parameters
    ----------
    tolerance : float, default 1e-15
        The largest difference between the kernel used and the Gaussian, relative to its scale. The
        local part differs from the exact one by at most that times the sum of the absolute values
        of its coefficients: the performance page has the proof.
    max_bytes : int, default 268435456
        The limit of the state's size in bytes; beyond it, `update` raises.

    Examples
    --------
    >>> from localarc import LARC, RBF
    >>> LARC(0.1, RBF(1.0), memory=Lattice(tolerance=1e-8)).memory.tolerance
    1e-08
    """

    tolerance: float = ROUNDING
    max_bytes: int = 2**28

    def __post_init__(self) -> None:
        hint = f"{ROUNDING:g} is rounding accuracy, 1e-8 is faster."
        tolerance = validation.positive("tolerance", self.tolerance, hint)
        if not ROUNDING <= tolerance <= 0.1:
            raise ValueError(
                f"tolerance must lie between {ROUNDING:g} and 0.1, got {tolerance}. {hint}"
            )
        object.__setattr__(self, "tolerance", tolerance)
        validation.integer("max_bytes", self.max_bytes, 2**16, "It limits the size of the state.")

    window = None
    averages = True
    exact = True  # it is L-ARC, with a kernel that is itself positive semi-definite

    @property
    def excess(self) -> float:
        """The lattice's kernel may exceed the Gaussian by its tolerance."""
        return self.tolerance

    def chosen(self, kernel: Kernel, dimension: int) -> Memory:
        """This strategy."""
        return self

    def check_kernel(self, kernel: Kernel) -> None:
        """Raise unless the kernel is a Gaussian."""
        if type(kernel) is not RBF:
            raise self._unsupported(f"{kernel!r}")

    def _unsupported(self, got: str) -> ValueError:
        return ValueError(
            f"Lattice supports RBF kernels with up to 3 features, got {got}. "
            "Use Dictionary or KeepAll."
        )

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion, f = 0."""
        if type(kernel) is not RBF or dimension > 3:
            raise self._unsupported(f"{kernel!r} with {dimension}")
        from localarc.engine import LatticeExpansion

        limits = self.tolerance, kernel.scale, self.max_bytes
        made = LatticeExpansion(dimension, *limits, roots(kernel, dimension))
        return CompiledExpansion(self, kernel, dimension, made)


@dataclass(frozen=True)
class Dictionary:
    """Bounded memory for any of our kernels and any number of features, with a measured accuracy.

    The local part is a sum over atoms, points of the stream that represent the others, and an exact
    buffer of the latest points.

    Parameters
    ----------
    tolerance : float, default 1e-4
        The error of the local part over a whole run, in the units of the score. It is measured
        (`max_error_estimate`), not proven.
    max_size : int, default 1024
        The largest number of atoms; beyond it the error grows instead of the memory.

    Examples
    --------
    >>> from localarc import LARC, Matern32
    >>> LARC(0.1, Matern32(1.0), memory=Dictionary(tolerance=1e-5)).memory.max_size
    1024
    """

    tolerance: float = 1e-4
    max_size: int = 1024

    def __post_init__(self) -> None:
        hint = "It is in units of the score, e.g. 1e-4."
        tolerance = validation.positive("tolerance", self.tolerance, hint)
        object.__setattr__(self, "tolerance", tolerance)
        validation.integer("max_size", self.max_size, 1, "It is the largest number of atoms.")

    window = None
    averages = True
    exact = False
    excess = 0.0

    def chosen(self, kernel: Kernel, dimension: int) -> Memory:
        """This strategy."""
        return self

    def check_kernel(self, kernel: Kernel) -> None:
        """Raise unless the kernel is a formula of the distance."""
        if not isinstance(kernel, Stationary):
            raise self._unsupported(kernel)

    def _unsupported(self, kernel: Kernel) -> ValueError:
        return ValueError(
            f"Dictionary supports kernels that are a formula of the distance, got {kernel!r}. "
            "Use KeepAll, or write the kernel as Radial(function of the squared distance)."
        )

    def expansion(self, kernel: Kernel, dimension: int) -> Expansion:
        """An empty expansion, f = 0."""
        formula = profile(kernel, dimension)
        if formula is None or not isinstance(kernel, Stationary):
            raise self._unsupported(kernel)
        from localarc.engine import DictionaryExpansion

        limits = self.tolerance, kernel.scale, self.max_size
        made = DictionaryExpansion(formula, dimension, *limits, roots(kernel, dimension))
        return CompiledExpansion(self, kernel, dimension, made)
