"""Kernels written by the user: a function of points and a centre, or one of the distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.kernels import semidefinite
from localarc.kernels.base import Kernel
from localarc.kernels.stationary import LengthScale, Stationary
from localarc.validation import FloatArray

Function = Callable[[FloatArray, FloatArray], FloatArray]
Formula = Callable[[float], float]

_MOST_POINTS = 256  # of a sample: time grows with their cube


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel from any Python function of points and a centre.

    Parameters
    ----------
    function : callable
        `function(X, z)` with (n, d) points and a (d,) centre; returns (n,) numbers. It must be
        positive semi-definite, and is checked at random points when it is first used.
    scale : float or None, default None
        A bound on `k(x, x)` over all inputs. The guarantees that need it (kappa) hold only if it
        is stated.
    nonnegative : bool, default False
        Whether the function never falls below zero.
    rho : float or None, default None
        Lipschitz constant of the function in its first argument, for the paper's own bound.
    factor : float, default 1.0
        The function is multiplied by this; `2.0 * kernel` sets it.
    sample : array of shape (n, d) or None, default None
        Inputs at which to check the function instead of random ones, where it is written for some
        inputs only, such as positive numbers or the numbers of categories.

    Examples
    --------
    >>> dot = Custom(lambda X, z: X @ z, scale=1.0)      # for inputs of length at most 1
    >>> dot(np.array([[0.6, 0.8]]), np.array([1.0, 0.0]))
    array([0.6])
    """

    function: Function
    scale: float | None = None
    nonnegative: bool = False
    rho: float | None = None
    factor: float = 1.0
    sample: InitVar[ArrayLike | None] = None
    _sample: ClassVar[FloatArray | None] = None  # an instance has its own; no field, so not stored

    def __post_init__(self, sample: ArrayLike | None) -> None:
        if not callable(self.function):
            raise TypeError(
                f"kernel must be a kernel or a function of (X, z), got {self.function!r}. "
                "For example RBF(length_scale=1.0)."
            )
        if self.scale is not None:
            hint = "It bounds k(x, x) over all inputs."
            object.__setattr__(self, "scale", validation.not_negative("scale", self.scale, hint))
        if self.rho is not None:
            hint = "It is a Lipschitz constant of the function."
            object.__setattr__(self, "rho", validation.not_negative("rho", self.rho, hint))
        hint = "The function is multiplied by it."
        object.__setattr__(self, "factor", validation.not_negative("factor", self.factor, hint))
        object.__setattr__(self, "nonnegative", _checked_sign(self.nonnegative))
        object.__setattr__(self, "_sample", None if sample is None else validation.points(sample))
        if self._sample is not None:
            self.check_positive_semidefinite(self._sample.shape[1])

    def _search(self, dimension: int) -> bool:
        """Look for a counterexample at the sample, or at random points."""
        if self._sample is None:
            return super()._search(dimension)
        points = validation.points(self._sample, dimension)
        points = points[:: -(-len(points) // _MOST_POINTS) or 1]
        semidefinite.check_matrix(self.matrix(points, points))
        return True

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
            self._sample,
        )


def _checked_sign(nonnegative: bool) -> bool:
    hint = "It says whether the function never falls below zero."
    return validation.flag("nonnegative", nonnegative, hint)


@dataclass(frozen=True, init=False, repr=False)
class Radial(Stationary):
    """`scale * function(u)` with `u = |x - z|^2 / length_scale^2`, compiled.

    Parameters
    ----------
    function : callable
        A function of one number u, with `function(0.0) == 1.0`. It must be positive semi-definite
        in as many dimensions as there are features, and is checked at random points. Decorate it
        with numba's `njit`, or let the engine compile it.
    length_scale : float or sequence of float, default 1.0
        Distance at which `u = 1`, in the units of the features; one number for all features, or
        one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.
    nonnegative : bool, default True
        Whether the function never falls below zero.

    Examples
    --------
    >>> round(float(Radial(lambda u: 1.0 / (1.0 + u) ** 2)([[1.0]], [0.0])[0]), 3)
    0.25
    """

    function: Formula
    nonnegative: bool = True

    def __init__(
        self,
        function: Formula,
        length_scale: LengthScale = 1.0,
        scale: float = 1.0,
        nonnegative: bool = True,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a radial kernel needs a function of u, got {function!r}.")
        super().__init__(length_scale, scale)
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "nonnegative", _checked_sign(nonnegative))
        peak = function(0.0)
        if not abs(peak - 1.0) <= 1e-12:
            raise ValueError(
                f"a radial function must be 1 at distance zero, got {peak}. Divide it by that, and "
                "pass the height as scale."
            )
        features = len(self.denominator) if isinstance(self.denominator, tuple) else 1
        self.check_positive_semidefinite(features)

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """The function, number by number."""
        values = map(self.function, u.ravel().tolist())
        return np.fromiter(values, np.float64, u.size).reshape(u.shape)

    def steepness(self, dimension: int) -> float:
        """Unknown for a function."""
        return np.nan

    def lipschitz(self, dimension: int = 1) -> float | None:
        """Unknown for a function."""
        return None

    def __repr__(self) -> str:
        return f"Radial({self.function!r}, {super().__repr__()[len('Radial(') :]}"


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
