"""Units of features: a reservoir of inputs whose spread sets the width of the grid's cells."""

import math
from typing import Any

import numpy as np

from localarc.constants import HYSTERESIS, INPUTS_KEPT, WARM
from localarc.engine.auto.layout import (
    ASKED,
    MEASURED,
    State,
    grid_of,
    input_of,
    jit,
    reservoir_of,
)

ORIGIN, WIDTH, EXPONENT = range(3)


@jit
def measure(state: State) -> None:
    """Keep the input perhaps; at 16, 32, 64, ... inputs, set the grid of each feature."""
    numbers, reservoir, x = state.numbers, reservoir_of(state), input_of(state)
    asked = int(numbers[ASKED])
    row = place_in_reservoir(asked)
    if row < INPUTS_KEPT:
        for i in range(len(x)):  # assigning all at once would take long to compile
            reservoir[row, i] = x[i]
    asked += 1
    numbers[ASKED] = asked
    if asked >= WARM and (asked & (asked - 1)) == 0:
        numbers[MEASURED] += 1.0
        values = np.empty(min(asked, INPUTS_KEPT))
        for i in range(len(x)):
            for k in range(len(values)):
                values[k] = reservoir[k, i]
            set_grid(grid_of(state), values, i)


@jit
def place_in_reservoir(asked: int) -> int:
    """Row of the next input: a pseudo-random one, uniform among all inputs so far."""
    if asked < INPUTS_KEPT:
        return asked
    r = np.uint64(asked) * np.uint64(0x9E3779B97F4A7C15)
    r = (r ^ (r >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((r ^ (r >> np.uint64(29))) % np.uint64(asked + 1))  # type: ignore[return-value]


@jit
def sort_into(target: Any, values: Any) -> int:
    """Put the values into the target, ascending, without NaN; how many there are."""
    count = 0
    for value in values:
        if not math.isnan(value):
            at = count
            while at > 0 and target[at - 1] > value:
                target[at] = target[at - 1]
                at -= 1
            target[at] = value
            count += 1
    return count


@jit
def set_grid(grid: Any, column: Any, i: int) -> None:
    """Origin and width from the central 80 % of the values; later only the exponent follows."""
    values = np.empty(len(column))
    count = sort_into(values, column)
    if count == 0:
        return
    tail = (count - 1) // 10
    low, high = values[tail], values[count - 1 - tail]
    width, origin = 1.25 * (high - low), low - 0.125 * (high - low)
    if width <= 0.0:
        width, origin = values[count - 1] - values[0], values[0]
    if width <= 0.0:
        return  # a feature that never changed has one cell
    if grid[WIDTH, i] == np.inf:
        grid[ORIGIN, i], grid[WIDTH, i] = origin, width
        return
    octaves = math.log2(width / grid[WIDTH, i])
    if abs(octaves - grid[EXPONENT, i]) > HYSTERESIS:
        grid[EXPONENT, i] = round(octaves)
