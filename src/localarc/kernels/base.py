"""The role of a kernel, and how kernels add and multiply."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.kernels import semidefinite
from localarc.validation import FloatArray

_ROUNDING = 1e-9  # of the sum of absolute values: a quadratic form below minus this is negative


class Kernel(ABC):
    """A positive semi-definite function k(x, z): how strongly a round at z affects x.

    The guarantees need three facts about it: `scale` (kappa, the largest k(x, x); None when
    unknown), `nonnegative` (k never falls below zero) and `lipschitz` (rho). Kernels can be added,
    and multiplied with each other and with positive numbers.

    A kernel of your own is checked at random points when it is first used; `proven = True` states
    that a theorem makes the check superfluous.

    Examples
    --------
    >>> from localarc import RBF
    >>> kernel = RBF(length_scale=1.0) + 0.5 * RBF(length_scale=9.0)
    >>> kernel([[0.0], [3.0]], [0.0]).round(3)
    array([1.5 , 0.484])
    """

    scale: float | None
    nonnegative: bool
    proven: bool = False

    @property
    def positive_semidefinite(self) -> semidefinite.Status:
        """How far it is certain: "known" by a theorem, "checked" at some points, or "assumed"."""
        if self.proven:
            return "known"
        return "checked" if any(self._checks.values()) else "assumed"

    @property
    def assumption(self) -> str | None:
        """What a guarantee takes for granted about the kernel; None where a theorem says it."""
        return {
            "known": None,
            "checked": "positive semi-definite kernel, checked at some points",
            "assumed": "positive semi-definite kernel, not checked",
        }[self.positive_semidefinite]

    @property
    def _checks(self) -> dict[int, bool]:
        """For each number of features that was checked: whether any point could be evaluated."""
        checks: dict[int, bool] = vars(self).setdefault("_checks_by_dimension", {})
        return checks

    def check_positive_semidefinite(self, dimension: int) -> None:
        """Raise if the kernel is found not to be positive semi-definite; once per dimension.

        Parameters
        ----------
        dimension : int
            The number of features.

        Examples
        --------
        >>> from localarc.kernels import Radial
        >>> triangle = Radial(lambda u: max(0.0, 1.0 - u**0.5))
        >>> triangle.check_positive_semidefinite(1)
        >>> triangle.check_positive_semidefinite(2)
        Traceback (most recent call last):
        ...
        ValueError: Radial(...) is not positive semi-definite with 2 feature(s): its matrix at ...
        """
        if self.proven or dimension in self._checks:
            return
        try:
            self._checks[dimension] = self._search(dimension)
        except semidefinite.CounterexampleError as found:
            raise ValueError(
                f"{self!r} is not positive semi-definite with {dimension} feature(s): {found}. "
                "The local part of a threshold has no norm with such a kernel, and nothing bounds "
                "it. Use a kernel of localarc.kernels, or a sum or product of them; where your "
                "function is meant for some inputs only, pass some: Custom(function, sample=X)."
            ) from None

    def _search(self, dimension: int) -> bool:
        """Look for a counterexample at random points."""
        points = semidefinite.random_points(dimension)
        return semidefinite.search(lambda x: self.matrix(x, x), points)

    def __call__(self, X: ArrayLike, z: ArrayLike) -> FloatArray:
        """The kernel of n points with one centre, or with m centres.

        Parameters
        ----------
        X : array of shape (n, d)
            The points.
        z : array of shape (d,) or (m, d)
            One centre, for a result of shape (n,), or m centres, for (n, m).
        """
        centres = validation.numbers("z", z)
        one = centres.ndim <= 1
        centres = validation.points(centres.reshape(1, -1) if one else centres)
        matrix = self.matrix(validation.points(X, centres.shape[1]), centres)
        return matrix[:, 0] if one else matrix

    @abstractmethod
    def matrix(self, points: FloatArray, centres: FloatArray) -> FloatArray:
        """Kernel of each of n checked points with each of m checked centres, (n, m)."""

    @abstractmethod
    def lipschitz(self, dimension: int = 1) -> float | None:
        """Lipschitz constant rho of k as a function of the distance, or None when unknown."""

    @abstractmethod
    def scaled(self, factor: float) -> Kernel:
        """The same kernel times a factor of at least zero."""

    def norm(self, centres: ArrayLike, weights: ArrayLike) -> float:
        """The RKHS norm of `sum_i weights_i k(centres_i, .)`, for `localized_bound`.

        Parameters
        ----------
        centres : array of shape (m, d)
            Where the kernel bumps are.
        weights : array of shape (m,)
            Their heights.
        """
        at = validation.points(centres)
        w = validation.numbers("weights", weights).reshape(-1)
        if len(w) != len(at):
            raise ValueError(
                f"weights must have one number per centre, got {len(w)} for {len(at)} centres."
            )
        products = w[:, None] * self.matrix(at, at) * w
        square = float(products.sum())
        if square < -_ROUNDING * float(np.abs(products).sum()):
            raise ValueError(
                f"the squared norm is {square:.3g}: {self!r} is not positive semi-definite at "
                "these centres, and has no norm. Use a kernel of localarc.kernels."
            )
        return math.sqrt(max(0.0, square))

    def __add__(self, other: Kernel) -> Kernel:
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product(self, other)
        hint = "A negative multiple is not a kernel."
        return self.scaled(validation.not_negative("factor", other, hint))

    __rmul__ = __mul__


@dataclass(frozen=True)
class Sum(Kernel):
    """`left + right`: reaches as far as either does.

    Parameters
    ----------
    left, right : Kernel
        The kernels to add.

    Examples
    --------
    >>> from localarc import RBF
    >>> (RBF(1.0) + 2 * RBF(9.0)).scale
    3.0
    """

    left: Kernel
    right: Kernel

    @property
    def scale(self) -> float | None:  # type: ignore[override]
        """The largest k(x, x): scales add."""
        return _both(self.left.scale, self.right.scale, lambda a, b: a + b)

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """Whether both parts are."""
        return self.left.nonnegative and self.right.nonnegative

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """Whether a theorem says so of both parts, and then of the whole."""
        return self.left.proven and self.right.proven

    def matrix(self, points: FloatArray, centres: FloatArray) -> FloatArray:
        """Both kernels, added."""
        return self.left.matrix(points, centres) + self.right.matrix(points, centres)

    def lipschitz(self, dimension: int = 1) -> float | None:
        """Constants add."""
        parts = self.left.lipschitz(dimension), self.right.lipschitz(dimension)
        return _both(*parts, lambda a, b: a + b)

    def scaled(self, factor: float) -> Kernel:
        """Each part times the factor."""
        return Sum(self.left.scaled(factor), self.right.scaled(factor))


@dataclass(frozen=True)
class Product(Kernel):
    """`left * right`: reaches only as far as both do.

    Parameters
    ----------
    left, right : Kernel
        The kernels to multiply.

    Examples
    --------
    >>> from localarc import RBF, Laplace
    >>> (RBF(1.0) * Laplace(2.0, scale=3.0)).scale
    3.0
    """

    left: Kernel
    right: Kernel

    @property
    def scale(self) -> float | None:  # type: ignore[override]
        """The largest k(x, x): scales multiply."""
        return _both(self.left.scale, self.right.scale, lambda a, b: a * b)

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        """Whether both parts are."""
        return self.left.nonnegative and self.right.nonnegative

    @property
    def proven(self) -> bool:  # type: ignore[override]
        """Whether a theorem says so of both parts, and then of the whole."""
        return self.left.proven and self.right.proven

    def matrix(self, points: FloatArray, centres: FloatArray) -> FloatArray:
        """Both kernels, multiplied (positive semi-definite by Schur's theorem)."""
        product = self.left.matrix(points, centres) * self.right.matrix(points, centres)
        return np.asarray(product)

    def lipschitz(self, dimension: int = 1) -> float | None:
        """The product rule, with each factor at its largest."""
        left = _both(self.left.lipschitz(dimension), self.right.scale, lambda a, b: a * b)
        right = _both(self.right.lipschitz(dimension), self.left.scale, lambda a, b: a * b)
        return _both(left, right, lambda a, b: a + b)

    def scaled(self, factor: float) -> Kernel:
        """One part times the factor."""
        return Product(self.left.scaled(factor), self.right)


def _both(
    left: float | None, right: float | None, combine: Callable[[float, float], float]
) -> float | None:
    """Combine two facts, when both are known."""
    return None if left is None or right is None else combine(left, right)
