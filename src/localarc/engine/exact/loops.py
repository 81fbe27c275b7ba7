"""The exact expansion: f is a sum over every point seen, evaluated tile by tile.

f = fade * sum_i weights_i k_i. The sum of f_t over the rounds, from which the average is computed,
is sum_i (folded_i + weights_i (clock - joined_i)) k_i, where `clock` is the running sum of `fade`.
Terms before `first` have left a full window: their weight is 0, and `folded` holds their share.
A `store` is the arrays (tiles, weights, joined, folded); the last three are `terms` in one array.

`numbers` is everything else that a step changes, so that one compiled call is the whole step:
Python can be interrupted between two calls, but not within one.
"""

from typing import Any

import numpy as np

from localarc.engine.numba_tools import jit
from localarc.engine.step import (
    MIN_FADE,
    NEGLIGIBLE,
    clip_value,
    loss_at,
    next_squared_norm,
    projection_factor,
    scale_point,
    sum_by_halves,
)
from localarc.engine.tiles import TILE, add_kernel_row, kernel_row

# The entries of `numbers`: what a step changes, and from WINDOW on what it only reads.
FADE, CLOCK, ROUNDS, FIRST, COUNT, WINDOW, SCALE, ROOTS = range(8)


def value_at(
    tiles: Any, weights: Any, first: int, count: int, point: Any, parameter: float
) -> float:
    """sum_i weights_i k(x_i, point)."""
    lanes = np.zeros(TILE)
    column = point.reshape((len(point), 1))
    for b in range(first // TILE, (count + TILE - 1) // TILE):
        add_kernel_row(tiles[b], weights[b], column, 0, parameter, lanes)
    return sum_by_halves(lanes)


def values_at(
    tiles: Any, weights: Any, first: int, count: int, points: Any, parameter: float
) -> Any:
    """`value_at` for each row of `points`, bit for bit."""
    results = np.empty(len(points))
    for i in range(len(points)):
        results[i] = value_at(tiles, weights, first, count, points[i], parameter)
    return results


def evaluate_raw(tiles: Any, weights: Any, numbers: Any, parameter: float, point: Any) -> float:
    """f at a raw point, before division by the roots; NaN unless finite and in range."""
    here = np.empty(len(point))
    if not scale_point(point, numbers[ROOTS:], here):
        return np.nan
    first, count = int(numbers[FIRST]), int(numbers[COUNT])
    return numbers[FADE] * value_at(tiles, weights, first, count, here, parameter)  # type: ignore[no-any-return]


@jit
def fold(store: Any, first: int, count: int, fade: float, clock: float) -> None:
    """Reset the fade to 1 and the clock to 0, without changing f or its average."""
    _, weights, joined, folded = store
    for b in range(first // TILE, (count + TILE - 1) // TILE):
        for j in range(TILE):
            folded[b, j] += weights[b, j] * (clock - joined[b, j])
            joined[b, j] = 0.0
            faded = weights[b, j] * fade
            weights[b, j] = faded if abs(faded) > NEGLIGIBLE else 0.0


@jit
def append(store: Any, count: int, point: Any, weight: float, clock: float) -> None:
    """Append a term; its entry of `folded` is still 0."""
    tiles, weights, joined, _ = store
    b, j = count // TILE, count % TILE
    tiles[b, :, j] = point
    weights[b, j] = weight
    joined[b, j] = clock


@jit
def retire(store: Any, first: int, clock: float) -> None:
    """Remove the oldest term from f; its contribution to the average stays."""
    _, weights, joined, folded = store
    b, j = first // TILE, first % TILE
    folded[b, j] += weights[b, j] * (clock - joined[b, j])
    weights[b, j] = 0.0


@jit
def accumulate(numbers: Any) -> None:
    """Add the current f to the sum behind the average."""
    numbers[CLOCK] += numbers[FADE]
    numbers[ROUNDS] += 1.0


@jit
def shrink(store: Any, numbers: Any, factor: float) -> None:
    """f <- factor f, for 0 < factor <= 1."""
    numbers[FADE] *= factor
    if numbers[FADE] < MIN_FADE:
        first, count = int(numbers[FIRST]), int(numbers[COUNT])
        fold(store, first, count, numbers[FADE], numbers[CLOCK])
        numbers[FADE], numbers[CLOCK] = 1.0, 0.0


@jit
def add(store: Any, numbers: Any, weight: float) -> None:
    """Add a term at the point after the last one, which is in its tile already.

    A full window drops its oldest term.
    """
    _, weights, joined, _ = store
    first, count = int(numbers[FIRST]), int(numbers[COUNT])
    if count - first == int(numbers[WINDOW]):
        retire(store, first, numbers[CLOCK])
        numbers[FIRST] += 1.0
    b, j = count // TILE, count % TILE
    weights[b, j] = weight * numbers[SCALE] / numbers[FADE]
    joined[b, j] = numbers[CLOCK]
    numbers[COUNT] += 1.0


def learn(
    tiles: Any, terms: Any, numbers: Any, projection: float, point: Any, decay: float, weight: float
) -> bool:
    """One round with a raw point, then f <- projection f; False, and nothing changed, if the point
    is not finite and in range, or there is no room for it."""
    count = int(numbers[COUNT])
    b, j = count // TILE, count % TILE
    if b == len(tiles):
        return False
    if not scale_point(point, numbers[ROOTS:], tiles[b, :, j]):
        tiles[b, :, j] = 0.0
        return False
    store = tiles, terms[0], terms[1], terms[2]
    accumulate(numbers)
    shrink(store, numbers, decay)
    add(store, numbers, weight)
    shrink(store, numbers, projection)
    return True


def drop_tiles(tiles: Any, terms: Any, numbers: Any, dead: int) -> None:
    """Drop the first tiles, all of whose terms have left the window."""
    kept = len(tiles) - dead
    for b in range(kept):
        tiles[b] = tiles[b + dead]
        terms[:, b] = terms[:, b + dead]
    tiles[kept:] = 0.0
    terms[:, kept:] = 0.0
    numbers[FIRST] -= dead * TILE
    numbers[COUNT] -= dead * TILE


def sum_block(block: Any, store: Any, first: int, count: int, parameter: float, sums: Any) -> None:
    """sums[j] = sum_i weights_i k(x_i, block's point j).

    The lanes run over the block's points, so no sum depends on the width of a vector. Four terms at
    a time, so that the sums are read and written less often than the kernel is evaluated.
    """
    tiles, weights, _, _ = store
    values = np.empty((4, TILE))
    v0, v1, v2, v3 = values[0], values[1], values[2], values[3]
    sums[:] = 0.0
    for b in range(first // TILE, (count + TILE - 1) // TILE):
        for i in range(0, min(count - b * TILE, TILE), 4):
            for k in range(4):
                kernel_row(block, tiles[b], i + k, parameter, values[k])
            w = weights[b, i : i + 4]
            w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
            for j in range(TILE):
                sums[j] += (w0 * v0[j] + w1 * v1[j]) + (w2 * v2[j] + w3 * v3[j])


def add_term(
    block: Any, store: Any, term: int, sign: float, parameter: float, values: Any, sums: Any
) -> None:
    """Add one term to the sums (sign 1) or subtract it (sign -1)."""
    tiles, weights, _, _ = store
    b, j = term // TILE, term % TILE
    kernel_row(block, tiles[b], j, parameter, values)
    weight = sign * weights[b, j]
    for k in range(TILE):
        sums[k] += weight * values[k]


def replay(
    store: Any,
    numbers: Any,
    start: tuple[float, float],
    rules: tuple[float, float, float, float, float, float, float],
    points: Any,
    curves: Any,
    rates: Any,
    decays: Any,
    thresholds: Any,
    incurred: Any,
) -> tuple[float, float]:
    """Replay every round; the store must have room for them. Returns the constant and |f|^2.

    The sums over all earlier terms are computed for 256 rounds at once; only the terms of the block
    itself are added one by one.
    """
    first, count, window = int(numbers[FIRST]), int(numbers[COUNT]), int(numbers[WINDOW])
    fade, clock = numbers[FADE], numbers[CLOCK]
    constant, norm = start
    alpha, floor, clip, radius, scale, peak, parameter = rules
    breakpoints, losses, offsets = curves
    block = np.zeros((points.shape[1], TILE))
    sums, values = np.empty(TILE), np.empty(TILE)
    for t in range(len(points)):
        lane = t % TILE
        if lane == 0:
            for j in range(min(TILE, len(points) - t)):
                block[:, j] = points[t + j]
            sum_block(block, store, first, count, parameter, sums)
        value = fade * sums[lane]
        thresholds[t] = clip_value(value, clip) + constant
        incurred[t] = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], thresholds[t])
        push = rates[t] * (incurred[t] - alpha)
        constant = max(constant + push, floor)
        norm = next_squared_norm(norm, decays[t], push, value, peak)
        clock += fade
        fade *= decays[t]
        if fade < MIN_FADE:
            fold(store, first, count, fade, clock)
            sums *= fade
            fade, clock = 1.0, 0.0
        if count - first == window:
            add_term(block, store, first, -1.0, parameter, values, sums)
            retire(store, first, clock)
            first += 1
        append(store, count, points[t], push * scale / fade, clock)
        add_term(block, store, count, 1.0, parameter, values, sums)
        count += 1
        if norm > radius * radius:
            fade *= projection_factor(norm, radius)
            norm = radius * radius
    numbers[FIRST], numbers[COUNT] = first, count
    numbers[FADE], numbers[CLOCK] = fade, clock
    numbers[ROUNDS] += len(points)
    return constant, norm
