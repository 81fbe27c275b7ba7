"""Kernels written by the user: any Python function of points and a centre."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc import validation
from localarc.kernels.base import Kernel
from localarc.kernels.radial import Radial
from localarc.validation import FloatArray

Function = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel from `function(X, z)`, which takes (n, d) points and a (d,) centre and gives (n,).

    State `scale`, a bound on k(x, x), and the guarantees that need kappa hold for it too.

    >>> dot = Custom(lambda X, z: X @ z, scale=1.0)      # for inputs of length at most 1
    >>> dot(np.array([[0.6, 0.8]]), np.array([1.0, 0.0]))
    array([0.6])
    """

    function: Function
    scale: float | None = None
    nonnegative: bool = False
    rho: float | None = None
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"kernel must be a kernel or a function of (X, z), got {self.function!r}. "
                "For example RBF(length_scale=1.0)."
            )
        if self.scale is not None:
            hint = "It bounds k(x, x) over all inputs."
            object.__setattr__(self, "scale", validation.not_negative("scale", self.scale, hint))

    def matrix(self, points: FloatArray, centres: FloatArray) -> FloatArray:
        """The function, one centre at a time."""
        columns = [self._column(points, centre) for centre in centres]
        return np.stack(columns, axis=1) if columns else np.zeros((len(points), 0))

    def _column(self, points: FloatArray, centre: FloatArray) -> FloatArray:
        column = np.asarray(self.function(points, centre), dtype=np.float64)
        if column.shape != (len(points),) or not np.isfinite(column).all():
            raise ValueError(
                f"a kernel function must give {len(points)} finite numbers for {len(points)} "
                f"points and one centre, got shape {column.shape}: {column!r:.80}."
            )
        return self.factor * column

    def lipschitz(self, dimension: int = 1) -> float | None:
        """What the user stated as `rho`."""
        return self.rho

    def scaled(self, factor: float) -> Kernel:
        """The same function times a factor."""
        return Custom(
            self.function,
            None if self.scale is None else self.scale * factor,
            self.nonnegative,
            None if self.rho is None else self.rho * factor,
            self.factor * factor,
        )


def as_kernel(kernel: Kernel | Function | None) -> Kernel | None:
    """A kernel as it is, a function wrapped, None for no localization.

    A function that numba compiled is one of the squared distance, any other one of (X, z).
    """
    if kernel is None or isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type):
        raise TypeError(
            f"kernel must be a kernel, got the class {kernel.__name__}. Make one, for example "
            f"{kernel.__name__}(length_scale=1.0)."
        )
    if hasattr(kernel, "py_func"):
        compiled: Any = kernel
        return Radial(compiled)
    return Custom(kernel)
