"""Probes: points where the exact sum is kept, to measure the error that flushes make.

A probe reflects one point in another, so it lies where future points are likely: the error is
largest where there is no atom yet. Half of the probes stay from the first flush on; the others are
replaced in turn, one per flush, and measure the error since then.

`truths` are the exact sums at the probes, and, last, the sum of all residuals' norms.
"""

from typing import Any

from localarc.engine.numba_tools import jit
from localarc.engine.tiles import TILE

PROBES = 32


@jit
def place_probes(probes: Any, points: Any) -> None:
    """The first probes, from the points of the first full buffer, one to a column."""
    for p in range(PROBES):
        i = p * (TILE // PROBES)
        for k in range(len(points)):
            probes[p, k] = 2.0 * points[k, i] - points[k, i - TILE // 2]


@jit
def replace_probe(probes: Any, points: Any, flushes: int) -> int:
    """Replace one probe after a flush; returns which one."""
    turn = PROBES // 2 + flushes % (PROBES // 2)
    for k in range(len(points)):
        probes[turn, k] = 2.0 * points[k, TILE - 1] - points[k, TILE // 2 - 1]
    return turn


@jit
def largest_deviation(truths: Any, values: Any) -> float:
    """How far f is from the exact sum at the worst probe."""
    largest = 0.0
    for p in range(PROBES):
        largest = max(largest, abs(truths[p] - values[p]))
    return largest
