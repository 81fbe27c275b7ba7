"""Points as a user gives them: checked, and divided by the roots of the length scales."""

from typing import Any

from localarc.engine.numba_tools import jit

LARGEST = 1e100  # in size: squares of larger numbers, and their sums, may overflow


@jit
def scaled(point: Any, roots: Any, into: Any) -> bool:
    """into = point / roots, and whether the point is healthy."""
    good = True
    for j in range(len(point)):
        good = good and abs(point[j]) <= LARGEST
        into[j] = point[j] / roots[j]
    return good
