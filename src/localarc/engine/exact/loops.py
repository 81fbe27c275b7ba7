"""The exact expansion: f is a sum over every point seen, evaluated tile by tile.

f = fade * sum_i weights_i k_i. The sum of f_t over the rounds, from which the average is computed,
is sum_i (folded_i + weights_i (clock - joined_i)) k_i, where `clock` is the running sum of `fade`.
Terms before `first` have left a full window: their weight is 0, and `folded` holds their share.
A `store` is the arrays (tiles, weights, joined, folded).
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


def evaluate_raw(
    tiles: Any, weights: Any, roots: Any, parameter: float, first: int, count: int, point: Any
) -> float:
    """`value_at` for a raw point, before division by the roots; NaN unless finite and in range."""
    here = np.empty(len(point))
    if not scale_point(point, roots, here):
        return np.nan
    return value_at(tiles, weights, first, count, here, parameter)


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


def append_raw(
    tiles: Any, weights: Any, joined: Any, roots: Any, count: int, point: Any, weight: float,
    clock: float,
) -> bool:  # fmt: skip
    """`append` for a raw point; False, and nothing changed, unless it is finite and in range."""
    b, j = count // TILE, count % TILE
    if not scale_point(point, roots, tiles[b, :, j]):
        tiles[b, :, j] = 0.0
        return False
    weights[b, j] = weight
    joined[b, j] = clock
    return True


@jit
def retire(store: Any, first: int, clock: float) -> None:
    """Remove the oldest term from f; its contribution to the average stays."""
    _, weights, joined, folded = store
    b, j = first // TILE, first % TILE
    folded[b, j] += weights[b, j] * (clock - joined[b, j])
    weights[b, j] = 0.0


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
    position: tuple[int, int, int],
    scalars: tuple[float, float, float, float],
    rules: tuple[float, float, float, float, float, float],
    points: Any,
    curves: Any,
    rates: Any,
    decays: Any,
    thresholds: Any,
    incurred: Any,
) -> tuple[int, int, float, float, float, float]:
    """Replay every round; the store must have room for them.

    The sums over all earlier terms are computed for 256 rounds at once; only the terms of the block
    itself are added one by one.
    """
    first, count, window = position
    fade, clock, constant, norm = scalars
    alpha, clip, radius, scale, peak, parameter = rules
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
        constant += push
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
    return first, count, fade, clock, constant, norm
