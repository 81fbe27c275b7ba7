"""One round of the online game: what a threshold costs, and how the size of f is kept in a ball."""

import math
from typing import Any

from localarc.engine.numba_tools import jit


@jit
def loss_at(breakpoints: Any, losses: Any, start: int, stop: int, threshold: float) -> float:
    """The loss of a step curve kept in entries start:stop, whose first breakpoint is -inf."""
    low, high = start, stop
    while low < high:
        middle = (low + high) // 2
        if breakpoints[middle] <= threshold:
            low = middle + 1
        else:
            high = middle
    return losses[max(low - 1, start)]  # type: ignore[no-any-return]


@jit
def clipped(value: float, clip: float) -> float:
    """The value, kept between -clip and clip."""
    return min(max(value, -clip), clip)


@jit
def grown(norm: float, decay: float, push: float, value: float, peak: float) -> float:
    """|f|^2 after f <- decay f + push k(x, .), where `value` is f(x) and `peak` is k(x, x)."""
    return max(decay * decay * norm + 2.0 * decay * push * value + push * push * peak, 0.0)


@jit
def to_ball(norm: float, radius: float) -> float:
    """The factor that brings f, of squared norm `norm`, back to |f| <= radius."""
    return radius / math.sqrt(norm) if norm > radius * radius else 1.0


@jit
def total(values: Any) -> float:
    """The sum of 2**n values, by halves: an order that no vector width changes. Overwrites them."""
    width = len(values) // 2
    while width > 0:
        low, high = values[:width], values[width : 2 * width]
        for j in range(width):
            low[j] += high[j]
        width //= 2
    return values[0]  # type: ignore[no-any-return]
