"""Stationary kernels: a formula of the distance in length scales.

Length scales are those of scikit-learn and tinygp. The paper's l, in `exp(-|x - z|^2 / l)`, is a
squared length: `RBF.from_paper(l)`. What a kernel stores is such an l, its `denominator`, so that
the paper's numbers are reproduced bit for bit.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from localarc import validation
from localarc.kernels import semidefinite
from localarc.kernels.base import Kernel
from localarc.validation import FloatArray

LengthScale = float | Sequence[float]

_HINT = "It is the distance over which a round affects thresholds nearby, e.g. 1.0."
_SCALE_HINT = "It is the kernel's value at distance zero, e.g. 1.0."


@dataclass(frozen=True, init=False, repr=False)
class Stationary(Kernel):
    """`scale * profile(u)` with `u = sum_j (x_j - z_j)^2 / denominator_j`.

    The base of the kernels below. A subclass states its formula as `profile`, and how many squared
    length scales make a denominator.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        Distance over which a round affects thresholds nearby, in the units of the features; one
        number for all features, or one per feature.
    scale : float, default 1.0
        `k(x, x)`: how strongly the local part of a threshold moves, relative to the constant.

    Examples
    --------
    >>> from localarc import Laplace
    >>> isinstance(Laplace(length_scale=2.0), Stationary), Laplace(length_scale=2.0).denominator
    (True, 4.0)
    """

    denominator: float | tuple[float, ...]
    scale: float
    nonnegative = True
    denominator_per_square: ClassVar[float] = 1.0
    compiled: ClassVar[str]  # the name of the profile in `engine/kernels.py`

    def __init__(self, length_scale: LengthScale = 1.0, scale: float = 1.0) -> None:
        lengths = _positive("length_scale", length_scale)
        squares: float | tuple[float, ...]
        if isinstance(lengths, tuple):
            squares = tuple(self.denominator_per_square * length * length for length in lengths)
        else:
            squares = self.denominator_per_square * lengths * lengths
        object.__setattr__(self, "denominator", squares)
        object.__setattr__(self, "scale", validation.not_negative("scale", scale, _SCALE_HINT))

    def replace(self, denominator: LengthScale, scale: float) -> Self:
        """The same formula with another denominator and scale.

        Parameters
        ----------
        denominator : float or sequence of float
            The squared length, the paper's l; one number, or one per feature.
        scale : float
            `k(x, x)`.
        """
        new = object.__new__(type(self))
        checked = validation.not_negative("scale", scale, _SCALE_HINT)
        squares = _positive("denominator", denominator)
        new.__dict__.update(self.__dict__, denominator=squares, scale=checked)
        return new

    @property
    def length_scale(self) -> float | tuple[float, ...]:
        """Distance over which a round affects thresholds nearby; one, or one per feature."""
        if isinstance(self.denominator, tuple):
            return tuple(self._length(part) for part in self.denominator)
        return self._length(self.denominator)

    def _length(self, denominator: float) -> float:
        length = math.sqrt(denominator / self.denominator_per_square)
        short = float(f"{length:.15g}")  # what the user wrote, where rounding moved the last digit
        same = self.denominator_per_square * short * short == denominator
        return short if same else length

    @abstractmethod
    def profile(self, u: FloatArray, dimension: int) -> FloatArray:
        """The formula, for scale 1, of the squared distance over the denominator."""

    @abstractmethod
    def steepness(self, dimension: int) -> float:
        """Largest slope of the profile against sqrt(u)."""

    def parameter(self, dimension: int) -> float:
        """The number in the compiled profile, if there is one."""
        return 0.0

    def matrix(self, points: FloatArray, centres: FloatArray) -> FloatArray:
        """The formula at each pair of a point and a centre."""
        u = squared_distances(self.stretch(points), self.stretch(centres))
        return self.scale * self.profile(u, points.shape[1])

    def _search(self, dimension: int) -> bool:
        """Look for a counterexample at random points, in units of the length scales."""

        def gram(points: FloatArray) -> FloatArray:
            return self.profile(squared_distances(points, points), dimension)

        return semidefinite.search(gram, semidefinite.points_in_lengths(dimension))

    def stretch(self, points: FloatArray) -> FloatArray:
        """Points in units of the square root of the denominator."""
        dimension = points.shape[1]
        if isinstance(self.denominator, tuple) and len(self.denominator) != dimension:
            raise ValueError(
                f"length_scale must be one number or one per feature, got "
                f"{len(self.denominator)} for inputs with {dimension} feature(s)."
            )
        return np.asarray(points / np.sqrt(self.denominator))

    def lipschitz(self, dimension: int = 1) -> float | None:
        """Lipschitz constant rho of the kernel as a function of the distance."""
        shortest = min(np.atleast_1d(self.denominator))
        return self.scale * self.steepness(dimension) / math.sqrt(shortest)

    def scaled(self, factor: float) -> Kernel:
        """The same formula with a larger or smaller scale."""
        return self.replace(self.denominator, self.scale * factor)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(length_scale={self.length_scale!r}, scale={self.scale!r})"


def _positive(name: str, values: LengthScale) -> float | tuple[float, ...]:
    validation.require_unmasked(name, values)
    listed = np.atleast_1d(np.asarray(values, dtype=object)).tolist()
    checked = tuple(validation.positive(name, value, _HINT) for value in listed)
    if not checked:
        raise ValueError(f"{name} must hold at least one number, got none. {_HINT}")
    return checked[0] if np.ndim(values) == 0 else checked


def squared_distances(left: FloatArray, right: FloatArray) -> FloatArray:
    """Squared Euclidean distances, (n, m), by differences: exact zeros stay zero."""
    total = np.zeros((len(left), len(right)))
    for j in range(left.shape[1]):
        difference = left[:, j, None] - right[None, :, j]
        total += difference * difference
    return total
