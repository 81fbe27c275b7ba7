"""Stationary kernels: one formula each, of the squared distance in length scales."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from localarc import validation
from localarc.kernels.base import Kernel
from localarc.validation import FloatArray

_HINT = "It is the squared distance over which a mistake is felt, e.g. 1.0."


@dataclass(frozen=True)
class Stationary(Kernel):
    """`scale * profile(u)` with `u = sum_j (x_j - z_j)^2 / length_scale_j`.

    One `length_scale` serves all features, or give one per feature.
    """

    length_scale: float | tuple[float, ...] = 1.0
    scale: float = 1.0
    nonnegative = True

    def __post_init__(self) -> None:
        lengths = np.atleast_1d(np.asarray(self.length_scale, dtype=object)).tolist()
        checked = tuple(validation.positive("length_scale", value, _HINT) for value in lengths)
        if not checked:
            raise ValueError("length_scale must hold at least one number, got none. " + _HINT)
        single = np.ndim(self.length_scale) == 0
        object.__setattr__(self, "length_scale", checked[0] if single else checked)
        hint = "It is the kernel's value at distance zero, e.g. 1.0."
        object.__setattr__(self, "scale", validation.not_negative("scale", self.scale, hint))

    @abstractmethod
    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """The formula, for scale 1, of the squared distance in length scales."""

    @abstractmethod
    def steepness(self, dimension: int) -> float:
        """Largest slope of the profile against sqrt(u)."""

    def matrix(self, points: FloatArray, centres: FloatArray) -> FloatArray:
        """The formula at each pair of a point and a centre."""
        u = squared_distances(self.stretch(points), self.stretch(centres))
        return self.scale * self.profile(u, points.shape[1])

    def stretch(self, points: FloatArray) -> FloatArray:
        """Points in units of the square root of the length scale."""
        dimension = points.shape[1]
        if isinstance(self.length_scale, tuple) and len(self.length_scale) != dimension:
            raise ValueError(
                f"length_scale must be one number or one per feature, got "
                f"{len(self.length_scale)} for inputs with {dimension} feature(s)."
            )
        return np.asarray(points / np.sqrt(self.length_scale))

    def lipschitz(self, dimension: int = 1) -> float | None:
        """Lipschitz constant rho of the kernel as a function of the distance."""
        shortest = min(np.atleast_1d(self.length_scale))
        return self.scale * self.steepness(dimension) / math.sqrt(shortest)

    def scaled(self, factor: float) -> Kernel:
        """The same formula with a larger or smaller scale."""
        return dataclasses.replace(self, scale=self.scale * factor)


def squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Squared Euclidean distances, (n, m), by differences: exact zeros stay zero."""
    total = np.zeros((len(left), len(right)))
    for j in range(left.shape[1]):
        difference = left[:, j, None] - right[None, :, j]
        total += difference * difference
    return total


@dataclass(frozen=True)
class RBF(Stationary):
    """Gaussian kernel, `scale * exp(-|x - z|^2 / length_scale)`.

    `length_scale` is the paper's l, a squared length: scikit-learn's RBF(s) is our RBF(2 * s**2).

    >>> RBF(length_scale=1.0)(np.array([[0.0], [1.0]]), np.array([0.0])).round(3)
    array([1.   , 0.368])
    """

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`exp(-u)`."""
        return np.exp(-u)

    def steepness(self, dimension: int) -> float:
        """At sqrt(u) = 1 / sqrt(2)."""
        return math.sqrt(2.0 / math.e)


@dataclass(frozen=True)
class Laplace(Stationary):
    """Exponential kernel, `scale * exp(-|x - z| / sqrt(length_scale))`: sharp peak, long tail."""

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`exp(-sqrt(u))`."""
        return np.exp(-np.sqrt(u))

    def steepness(self, dimension: int) -> float:
        """At distance zero."""
        return 1.0


@dataclass(frozen=True)
class Matern32(Stationary):
    """Matern kernel of smoothness 3/2, `scale * (1 + r) exp(-r)`, `r = sqrt(3 u)`."""

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`(1 + r) exp(-r)`."""
        r = np.sqrt(3.0 * u)
        return np.asarray((1.0 + r) * np.exp(-r))

    def steepness(self, dimension: int) -> float:
        """At r = 1."""
        return math.sqrt(3.0) / math.e


@dataclass(frozen=True)
class Matern52(Stationary):
    """Matern kernel of smoothness 5/2, `scale * (1 + r + r^2 / 3) exp(-r)`, `r = sqrt(5 u)`."""

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`(1 + r + r^2 / 3) exp(-r)`."""
        r = np.sqrt(5.0 * u)
        return np.asarray((1.0 + r + r * r / 3.0) * np.exp(-r))

    def steepness(self, dimension: int) -> float:
        """At r = golden ratio, where r^2 = r + 1."""
        golden = (1.0 + math.sqrt(5.0)) / 2.0
        return math.sqrt(5.0) / 3.0 * golden**3 * math.exp(-golden)


@dataclass(frozen=True)
class Cauchy(Stationary):
    """Cauchy kernel, `scale / (1 + |x - z|^2 / length_scale)`: felt far away."""

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`1 / (1 + u)`."""
        return np.asarray(1.0 / (1.0 + u))

    def steepness(self, dimension: int) -> float:
        """At sqrt(u) = 1 / sqrt(3)."""
        return 3.0 * math.sqrt(3.0) / 8.0


@dataclass(frozen=True)
class Triangular(Stationary):
    """Compact kernel, `scale * max(0, 1 - r)^p`, `r = |x - z| / sqrt(length_scale)`.

    One feature gives the triangle, p = 1. The triangle itself is not positive semi-definite in
    two dimensions or more; Askey's truncated power with `p = floor(d / 2) + 1` is.
    """

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`max(0, 1 - sqrt(u))^p`."""
        return np.asarray(np.maximum(0.0, 1.0 - np.sqrt(u)) ** self.power(dimension))

    def steepness(self, dimension: int) -> float:
        """At distance zero."""
        return float(self.power(dimension))

    @staticmethod
    def power(dimension: int) -> int:
        """Smallest whole exponent that is positive semi-definite in so many dimensions."""
        return dimension // 2 + 1


@dataclass(frozen=True)
class RationalQuadratic(Stationary):
    """`scale * (1 + u / shape)^(-shape)`: a mixture of Gaussians of many widths.

    A large `shape` gives RBF, shape 1 gives Cauchy.
    """

    shape: float = 1.0

    def __post_init__(self) -> None:
        Stationary.__post_init__(self)
        hint = "Small shapes have long tails; large ones approach RBF."
        object.__setattr__(self, "shape", validation.positive("shape", self.shape, hint))

    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """`(1 + u / shape)^(-shape)`."""
        return np.asarray((1.0 + u / self.shape) ** -self.shape)

    def steepness(self, dimension: int) -> float:
        """At u = shape / (2 shape + 1)."""
        u = self.shape / (2.0 * self.shape + 1.0)
        return float(2.0 * math.sqrt(u) * (1.0 + u / self.shape) ** (-self.shape - 1.0))
