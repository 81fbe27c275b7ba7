"""One online round in numbers: read a point, take a loss, update |f|^2; and the checks of a state.

The replay loops inline these functions. What `fade` and `clock` mean is in the README.
"""

import math
from collections.abc import Mapping
from typing import Any

from localarc.engine.numba_tools import jit
from localarc.validation import LARGEST

MIN_FADE = 1e-3  # renormalise below this fade: clock - joined would cancel
NEGLIGIBLE = 1e-290  # weights below are set to 0, before they become slow subnormal numbers
NO_WINDOW = 2**62  # a window that never fills


@jit
def scale_point(point: Any, roots: Any, into: Any) -> bool:
    """into = point / roots, and whether every coordinate is finite and in range."""
    good = True
    for j in range(len(point)):
        good = good and abs(point[j]) <= LARGEST
        into[j] = point[j] / roots[j]
    return good


@jit
def loss_at(breakpoints: Any, losses: Any, start: int, stop: int, threshold: float) -> float:
    """The loss of a step curve stored in entries start:stop, whose first breakpoint is -inf."""
    low, high = start, stop
    while low < high:
        middle = (low + high) // 2
        if breakpoints[middle] <= threshold:
            low = middle + 1
        else:
            high = middle
    return losses[max(low - 1, start)]  # type: ignore[no-any-return]


@jit
def clip_value(value: float, clip: float) -> float:
    """The value, limited to the interval from -clip to clip."""
    return min(max(value, -clip), clip)


@jit
def next_squared_norm(norm: float, decay: float, push: float, value: float, peak: float) -> float:
    """|f|^2 after f <- decay f + push k(x, .), where `value` is f(x) and `peak` is k(x, x)."""
    return max(decay * decay * norm + 2.0 * decay * push * value + push * push * peak, 0.0)


@jit
def projection_factor(norm: float, radius: float) -> float:
    """The factor that projects f, of squared norm `norm`, onto the ball |f| <= radius."""
    return radius / math.sqrt(norm) if norm > radius * radius else 1.0


@jit
def sum_by_halves(values: Any) -> float:
    """The sum of 2**n values in an order that no vector width changes. Overwrites the values."""
    width = len(values) // 2
    while width > 0:
        low, high = values[:width], values[width : 2 * width]
        for j in range(width):
            low[j] += high[j]
        width //= 2
    return values[0]  # type: ignore[no-any-return]


def check_shapes(arrays: Mapping[str, Any], **shapes: tuple[int, ...]) -> None:
    """Raise unless every named array has exactly that shape: compiled loops check no bounds."""
    for name, shape in shapes.items():
        found = arrays[name].shape
        require(found == shape, f"its {name} have the shape {found} instead of {shape}")


def require(valid: bool, otherwise: str) -> None:
    """Raise unless the state is valid."""
    if not valid:
        raise ValueError(f"the state is damaged, {otherwise}: go back to an earlier copy.")
