"""Positive semi-definiteness of a user's kernel: a search for a counterexample at random points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import numpy as np

from localarc.validation import FloatArray

Status = Literal["known", "checked", "assumed"]
"""Known by a theorem; checked, without a counterexample; or neither."""

_POINTS = 64
_CLEARLY = 1e-5  # of the largest entry; a function that rounds to single precision stays below
_LENGTHS = (0.1, 0.3, 1.0, 3.0)  # spread of the points, in length scales
_UNITS = 10.0 ** np.arange(-2.0, 3.5, 0.5)  # spread of the points where no length scale is known
_MOST_DIMENSIONS = 6  # random points in more dimensions are all equally far apart


class CounterexampleError(ValueError):
    """Points at which a function is not positive semi-definite; the message says how far."""


def random_points(dimension: int) -> Iterator[FloatArray]:
    """Return sets of points for a kernel without a length scale."""
    random = np.random.default_rng(0)
    for unit in _UNITS:
        yield unit * random.normal(size=(_POINTS, dimension))


def points_in_lengths(dimension: int) -> Iterator[FloatArray]:
    """Return sets of points in up to `dimension` dimensions, for a function of the distance.

    Points in a plane are also points in space: a counterexample in fewer dimensions is one in more.
    """
    random = np.random.default_rng(0)
    for columns in sorted({1, 2, 3, _MOST_DIMENSIONS, dimension}):
        if columns <= min(dimension, _MOST_DIMENSIONS):
            for length in _LENGTHS:
                yield length * random.normal(size=(_POINTS, columns))


def search(gram: Callable[[FloatArray], FloatArray], samples: Iterable[FloatArray]) -> bool:
    """Return whether the kernel could be evaluated at any sample; raise for a counterexample.

    A function may be written for some inputs only, such as the numbers of categories. What it
    raises at other points says nothing about whether it is a kernel.
    """
    evaluated = False
    for points in samples:
        try:
            with np.errstate(all="ignore"):
                matrix = gram(points)
        except Exception:
            continue
        check_matrix(matrix)
        evaluated = True
    return evaluated


def check_matrix(matrix: FloatArray) -> None:
    """Raise unless the matrix is symmetric and has no clearly negative eigenvalue."""
    largest = float(np.abs(matrix).max(initial=0.0))
    skew = float(np.abs(matrix - matrix.T).max(initial=0.0))
    if skew > _CLEARLY * largest:
        raise CounterexampleError(f"k(x, z) and k(z, x) differ by {skew:.3g}")
    least = float(np.linalg.eigvalsh(matrix).min(initial=0.0))
    if least < -_CLEARLY * largest:
        raise CounterexampleError(
            f"its matrix at {len(matrix)} points has the eigenvalue {least:.3g}, with "
            f"entries up to {largest:.3g}"
        )
