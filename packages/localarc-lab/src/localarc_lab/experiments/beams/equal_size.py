"""Equal set size: the target at which a method's sets have a given mean size, by bisection.

At one target, methods differ in set size and in evenness at once. At one mean set size only
evenness differs: which method serves the area better with the same number of beams?
"""

from __future__ import annotations

import math
from collections.abc import Callable

from localarc.calibrators.role import Calibrator

SIZE = 1.5
"""Beams per set, on held-out users."""

_RANGE = 0.005, 0.9
_STEPS = 12


def match_size(
    build: Callable[[float], Calibrator],
    size_of: Callable[[Calibrator], float],
    size: float = SIZE,
) -> Calibrator:
    """Return the calibrator whose mean set size comes closest to `size`, among those tried.

    `build` makes a new calibrator for a target. `size_of` calibrates it and returns the mean size
    of its sets, which falls with the target up to chance.
    """
    low, high = _RANGE
    tried: list[tuple[float, Calibrator]] = []
    for _ in range(_STEPS):
        target = math.sqrt(low * high)
        calibrator = build(target)
        found = size_of(calibrator)
        tried.append((abs(found - size), calibrator))
        low, high = (target, high) if found > size else (low, target)
    return min(tried, key=lambda attempt: attempt[0])[1]
