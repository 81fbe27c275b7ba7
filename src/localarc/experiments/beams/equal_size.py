"""Matching: the target at which a method's sets have a given mean size, found by bisection.

At one target, methods differ in set size and in evenness at once. At one mean size they do not:
who serves the area better for the same number of beams?
"""

from __future__ import annotations

import math
from collections.abc import Callable

from localarc.calibrators.base import BaseCalibrator

SIZE = 1.5
"""Beams a set, on held-out users."""

_RANGE = 0.005, 0.9
_STEPS = 12


def matched(
    make: Callable[[float], BaseCalibrator],
    size_of: Callable[[BaseCalibrator], float],
    size: float = SIZE,
) -> BaseCalibrator:
    """Of the calibrators tried, the one whose size comes closest.

    `size_of` replays a new calibrator and gives the mean size of its sets, which falls with the
    target but for chance.
    """
    low, high = _RANGE
    tried: list[tuple[float, BaseCalibrator]] = []
    for _ in range(_STEPS):
        target = math.sqrt(low * high)
        calibrator = make(target)
        found = size_of(calibrator)
        tried.append((abs(found - size), calibrator))
        low, high = (target, high) if found > size else (low, target)
    return min(tried, key=lambda each: each[0])[1]
