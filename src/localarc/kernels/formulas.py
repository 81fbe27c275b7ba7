"""The stationary kernels that come with localarc, one record each.

A class is the record of a kernel: its formula, the formula's name in the engine (`compiled`), and
its own name, which states store. Its name on the wire and in the command follows, see `KERNELS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from localarc import validation
from localarc.kernels.stationary import LengthScale, Stationary
from localarc.validation import FloatArray


@dataclass(frozen=True, init=False, repr=False)
class RBF(Stationary):
    """Gaussian kernel, `scale * exp(-|x - z|^2 / (2 length_scale^2))`, as in scikit-learn.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Distance at which the kernel has fallen to 61 % of its peak, in the units of the features;
        one number for all features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.

    Examples
    --------
    >>> RBF(length_scale=1.0)(np.array([[0.0], [1.0]]), np.array([0.0])).round(3)
    array([1.   , 0.607])

    References
    ----------
    Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. (4.9).
    """

    proven = True
    compiled = "gaussian"
    denominator_per_square = 2.0

    @classmethod
    def from_paper(cls, l: float | Sequence[float], scale: float = 1.0) -> Self:  # noqa: E741
        """The paper's kernel, `scale * exp(-|x - z|^2 / l)`, whose l is a squared length.

        Parameters
        ----------
        l : float or sequence of float
            The paper's length scale; one number for all features, or one per feature.
        scale : float, default 1.0
            `k(x, x)`.

        Examples
        --------
        >>> RBF.from_paper(2.0) == RBF(length_scale=1.0)
        True
        """
        return cls().replace(l, scale)

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`exp(-u)`."""
        return np.exp(-u)

    def steepness(self, dimension: int) -> float:
        """At sqrt(u) = 1 / sqrt(2)."""
        return math.sqrt(2.0 / math.e)


@dataclass(frozen=True, init=False, repr=False)
class Laplace(Stationary):
    """Exponential kernel, `scale * exp(-|x - z| / length_scale)`: sharp peak, long tail.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Distance at which the kernel has fallen to 37 % of its peak, in the units of the features;
        one number for all features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.

    Examples
    --------
    >>> Laplace(length_scale=2.0)(np.array([[0.0], [2.0]]), np.array([0.0])).round(3)
    array([1.   , 0.368])

    References
    ----------
    Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. (4.18).
    """

    proven = True
    compiled = "laplace"

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`exp(-sqrt(u))`."""
        return np.exp(-np.sqrt(u))

    def steepness(self, dimension: int) -> float:
        """At distance zero."""
        return 1.0


@dataclass(frozen=True, init=False, repr=False)
class Matern32(Stationary):
    """Matern kernel of smoothness 3/2, `scale * (1 + r) exp(-r)`, `r = sqrt(3) d / length_scale`.

    `d` is the distance `|x - z|`; scikit-learn's `Matern(nu=1.5)`.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Distance at which the kernel has fallen to 48 % of its peak, in the units of the features;
        one number for all features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.

    Examples
    --------
    >>> Matern32(length_scale=1.0)(np.array([[0.0], [1.0]]), np.array([0.0])).round(3)
    array([1.   , 0.483])

    References
    ----------
    Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. (4.17).
    """

    proven = True
    compiled = "matern32"

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`(1 + r) exp(-r)`."""
        r = np.sqrt(3.0 * u)
        return np.asarray((1.0 + r) * np.exp(-r))

    def steepness(self, dimension: int) -> float:
        """At r = 1."""
        return math.sqrt(3.0) / math.e


@dataclass(frozen=True, init=False, repr=False)
class Matern52(Stationary):
    """Matern kernel of smoothness 5/2, `scale * (1 + r + r^2 / 3) exp(-r)`.

    `r = sqrt(5) |x - z| / length_scale`; scikit-learn's `Matern(nu=2.5)`.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Distance at which the kernel has fallen to 52 % of its peak, in the units of the features;
        one number for all features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.

    Examples
    --------
    >>> Matern52(length_scale=1.0)(np.array([[0.0], [1.0]]), np.array([0.0])).round(3)
    array([1.   , 0.524])

    References
    ----------
    Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. (4.17).
    """

    proven = True
    compiled = "matern52"

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`(1 + r + r^2 / 3) exp(-r)`."""
        r = np.sqrt(5.0 * u)
        return np.asarray((1.0 + r + r * r / 3.0) * np.exp(-r))

    def steepness(self, dimension: int) -> float:
        """At r = golden ratio, where r^2 = r + 1."""
        golden = (1.0 + math.sqrt(5.0)) / 2.0
        return math.sqrt(5.0) / 3.0 * golden**3 * math.exp(-golden)


@dataclass(frozen=True, init=False, repr=False)
class Cauchy(Stationary):
    """Cauchy kernel, `scale / (1 + |x - z|^2 / length_scale^2)`: reaches far.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Distance at which the kernel has fallen to a half of its peak, in the units of the features;
        one number for all features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.

    Examples
    --------
    >>> Cauchy(length_scale=3.0)(np.array([[0.0], [3.0]]), np.array([0.0]))
    array([1. , 0.5])

    References
    ----------
    Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. (4.19), with
    exponent 1.
    """

    proven = True
    compiled = "cauchy"

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`1 / (1 + u)`."""
        return np.asarray(1.0 / (1.0 + u))

    def steepness(self, dimension: int) -> float:
        """At sqrt(u) = 1 / sqrt(3)."""
        return 3.0 * math.sqrt(3.0) / 8.0


@dataclass(frozen=True, init=False, repr=False)
class Triangular(Stationary):
    """Compact kernel, `scale * max(0, 1 - |x - z| / length_scale)^p`: zero from one length on.

    One feature gives the triangle, p = 1. The triangle itself is not positive semi-definite in
    two dimensions or more; Askey's truncated power with `p = floor(d / 2) + 1` is.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Distance from which the kernel is zero, in the units of the features; one number for all
        features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.

    Examples
    --------
    >>> Triangular(length_scale=2.0)(np.array([[0.0], [1.0], [2.0]]), np.array([0.0]))
    array([1. , 0.5, 0. ])

    References
    ----------
    Askey, *Radial characteristic functions*, University of Wisconsin, 1973.
    """

    proven = True
    compiled = "triangular"

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`max(0, 1 - sqrt(u))^p`."""
        return np.asarray(np.maximum(0.0, 1.0 - np.sqrt(u)) ** self.power(dimension))

    def steepness(self, dimension: int) -> float:
        """At distance zero."""
        return float(self.power(dimension))

    def parameter(self, dimension: int) -> float:
        """The exponent p."""
        return float(self.power(dimension))

    @staticmethod
    def power(dimension: int) -> int:
        """The smallest integer exponent that is positive semi-definite in this dimension."""
        return dimension // 2 + 1


@dataclass(frozen=True, init=False, repr=False)
class RationalQuadratic(Stationary):
    """`scale * (1 + |x - z|^2 / (2 shape length_scale^2))^(-shape)`, as in scikit-learn.

    A mixture of Gaussians of many widths: a large `shape` gives RBF.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Length scale of the Gaussian that a large `shape` approaches, in the units of the features;
        one number for all features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.
    shape : float, default 1.0
        scikit-learn's `alpha`: small values have long tails, large ones approach RBF.

    Examples
    --------
    >>> RationalQuadratic(length_scale=1.0)(np.array([[0.0], [1.0]]), np.array([0.0])).round(3)
    array([1.   , 0.667])

    References
    ----------
    Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, eq. (4.19).
    """

    proven = True
    compiled = "rational_quadratic"

    shape: float
    denominator_per_square = 2.0

    def __init__(
        self, length_scale: LengthScale = 1.0, scale: float = 1.0, shape: float = 1.0
    ) -> None:
        super().__init__(length_scale, scale)
        hint = "Small shapes have long tails; large ones approach RBF."
        object.__setattr__(self, "shape", validation.positive("shape", shape, hint))

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`(1 + u / shape)^(-shape)`."""
        return np.asarray((1.0 + u / self.shape) ** -self.shape)

    def steepness(self, dimension: int) -> float:
        """At u = shape / (2 shape + 1)."""
        u = self.shape / (2.0 * self.shape + 1.0)
        return float(2.0 * math.sqrt(u) * (1.0 + u / self.shape) ** (-self.shape - 1.0))

    def parameter(self, dimension: int) -> float:
        """The shape."""
        return self.shape

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, shape={self.shape!r})"


def _name(kernel: type[Stationary]) -> str:
    """Lower case, with a hyphen before each further word: "rational-quadratic"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kernel.__name__).lower()


KERNELS: dict[str, type[Stationary]] = {
    _name(kernel): kernel
    for kernel in (RBF, Laplace, Matern32, Matern52, Cauchy, Triangular, RationalQuadratic)
}
"""The kernels by name. States, the engine, the command and the service know kernels from here."""
