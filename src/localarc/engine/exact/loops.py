"""The exact expansion: f is a faded sum over every point seen, evaluated tile by tile.

f = fade * sum_i weights_i k_i. The sum over rounds of f_t, which the average reads, is
sum_i (folded_i + weights_i (clock - joined_i)) k_i, where `clock` adds up `fade` over the rounds.
Terms before `first` have left a full window: their weight is 0, and `folded` remembers them.
A `store` is the arrays (tiles, weights, joined, folded).
"""

from typing import Any

import numpy as np

from localarc.engine.inputs import scaled
from localarc.engine.numba_tools import jit
from localarc.engine.rounds import clipped, grown, loss_at, to_ball, total
from localarc.engine.tiles import TILE, gather, row

FAINT = 1e-3  # renormalise below this fade: clock - joined would cancel
NEGLIGIBLE = 1e-290  # weights below are set to 0, before they become slow subnormal numbers


def value_at(
    tiles: Any, weights: Any, first: int, count: int, point: Any, parameter: float
) -> float:
    """sum_i weights_i k(x_i, point)."""
    lanes = np.zeros(TILE)
    column = point.reshape((len(point), 1))
    for b in range(first // TILE, (count + TILE - 1) // TILE):
        gather(tiles[b], weights[b], column, 0, parameter, lanes)
    return total(lanes)


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
    """`value_at` for a point that is still to be divided by the roots; NaN if it is not healthy."""
    here = np.empty(len(point))
    if not scaled(point, roots, here):
        return np.nan
    return value_at(tiles, weights, first, count, here, parameter)


@jit
def fold(store: Any, first: int, count: int, fade: float, clock: float) -> None:
    """Let the fade restart at 1 and the clock at 0, with nothing changed in f or its average."""
    _, weights, joined, folded = store
    for b in range(first // TILE, (count + TILE - 1) // TILE):
        for j in range(TILE):
            folded[b, j] += weights[b, j] * (clock - joined[b, j])
            joined[b, j] = 0.0
            faded = weights[b, j] * fade
            weights[b, j] = faded if abs(faded) > NEGLIGIBLE else 0.0


@jit
def append(store: Any, count: int, point: Any, weight: float, clock: float) -> None:
    """A new term joins; its place in `folded` is still 0."""
    tiles, weights, joined, _ = store
    b, j = count // TILE, count % TILE
    tiles[b, :, j] = point
    weights[b, j] = weight
    joined[b, j] = clock


def append_raw(
    tiles: Any, weights: Any, joined: Any, roots: Any, count: int, point: Any, weight: float,
    clock: float,
) -> bool:  # fmt: skip
    """`append` for such a point; False, and nothing changed, if it is not finite and in range."""
    b, j = count // TILE, count % TILE
    if not scaled(point, roots, tiles[b, :, j]):
        tiles[b, :, j] = 0.0
        return False
    weights[b, j] = weight
    joined[b, j] = clock
    return True


@jit
def retire(store: Any, first: int, clock: float) -> None:
    """The oldest term leaves f; what it has given to the average stays."""
    _, weights, joined, folded = store
    b, j = first // TILE, first % TILE
    folded[b, j] += weights[b, j] * (clock - joined[b, j])
    weights[b, j] = 0.0


def hear(block: Any, store: Any, first: int, count: int, parameter: float, sums: Any) -> None:
    """sums[j] = sum_i weights_i k(x_i, block's point j).

    The lanes run over the block's points, so no sum depends on the width of a vector; four terms
    at a time, so that the sums are read and written less often than the kernel is evaluated.
    """
    tiles, weights, _, _ = store
    values = np.empty((4, TILE))
    v0, v1, v2, v3 = values[0], values[1], values[2], values[3]
    sums[:] = 0.0
    for b in range(first // TILE, (count + TILE - 1) // TILE):
        for i in range(0, min(count - b * TILE, TILE), 4):
            for k in range(4):
                row(block, tiles[b], i + k, parameter, values[k])
            w = weights[b, i : i + 4]
            w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
            for j in range(TILE):
                sums[j] += (w0 * v0[j] + w1 * v1[j]) + (w2 * v2[j] + w3 * v3[j])


def hear_one(
    block: Any, store: Any, term: int, sign: float, parameter: float, values: Any, sums: Any
) -> None:
    """Add one term to the sums (sign 1) or take it out again (sign -1)."""
    tiles, weights, _, _ = store
    b, j = term // TILE, term % TILE
    row(block, tiles[b], j, parameter, values)
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
    """Play every round; the store must have room for them.

    A block of 256 rounds first hears from all earlier terms at once; only what its own rounds say
    to each other is sequential.
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
            hear(block, store, first, count, parameter, sums)
        value = fade * sums[lane]
        thresholds[t] = clipped(value, clip) + constant
        incurred[t] = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], thresholds[t])
        push = rates[t] * (incurred[t] - alpha)
        constant += push
        norm = grown(norm, decays[t], push, value, peak)
        clock += fade
        fade *= decays[t]
        if fade < FAINT:
            fold(store, first, count, fade, clock)
            sums *= fade
            fade, clock = 1.0, 0.0
        if count - first == window:
            hear_one(block, store, first, -1.0, parameter, values, sums)
            retire(store, first, clock)
            first += 1
        append(store, count, points[t], push * scale / fade, clock)
        hear_one(block, store, count, 1.0, parameter, values, sums)
        count += 1
        if norm > radius * radius:
            fade *= to_ball(norm, radius)
            norm = radius * radius
    return first, count, fade, clock, constant, norm
