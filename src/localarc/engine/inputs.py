"""Points as a user gives them: checked, and divided by the roots of the length scales."""

import math
from typing import Any

import numpy as np

from localarc.engine.compiled import jit
from localarc.engine.tiles import FloatArray

LARGEST = 1e100  # in size: squares of larger numbers, and their sums, may overflow


def healthy(point: FloatArray) -> bool:
    """Whether every number of a point is one to compute with; NaN and infinity are not."""
    if len(point) <= 16:
        return math.hypot(*point.tolist()) <= LARGEST
    return bool(np.abs(point).max() <= LARGEST)


@jit
def scaled(point: Any, roots: Any, into: Any) -> bool:
    """into = point / roots, and whether the point is healthy."""
    good = True
    for j in range(len(point)):
        good = good and abs(point[j]) <= LARGEST
        into[j] = point[j] / roots[j]
    return good
