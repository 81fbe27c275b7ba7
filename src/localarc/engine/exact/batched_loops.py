"""Many exact runs over one stream: distances and kernels once, sums once per run.

Like `loops.replay`, from an empty state and without a window; `weights`, `joined`, `folded` and the
scalars have a leading dimension, the run.

Runs with the same length scale are adjacent. For each such group, `scales` holds the ratio of its
squared distances to those of the points (ratios), how often to square the kernel of the previous
group to obtain its own, or 0 to evaluate it (squarings), and the index after its last run (stops).
"""

from typing import Any

import numpy as np

from localarc.engine.exact.loops import fold
from localarc.engine.numba_tools import jit
from localarc.engine.step import MIN_FADE, clip_value, loss_at, next_squared_norm, projection_factor
from localarc.engine.tiles import TILE, kernel_at, squared_distances


@jit
def add_eight(sums: Any, weights: Any, values: Any) -> None:
    """sums[j] += the eight weights times the eight rows of values, four by four."""
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    w4, w5, w6, w7 = weights[4], weights[5], weights[6], weights[7]
    v0, v1, v2, v3 = values[0], values[1], values[2], values[3]
    v4, v5, v6, v7 = values[4], values[5], values[6], values[7]
    for j in range(TILE):
        first = sums[j] + ((w0 * v0[j] + w1 * v1[j]) + (w2 * v2[j] + w3 * v3[j]))
        sums[j] = first + ((w4 * v4[j] + w5 * v5[j]) + (w6 * v6[j] + w7 * v7[j]))


@jit
def add_one(sums: Any, weight: float, values: Any) -> None:
    """sums[j] += weight * values[j]."""
    for j in range(TILE):
        sums[j] += weight * values[j]


def kernel(distances: Any, scales: Any, group: int, parameter: float, values: Any) -> None:
    """The kernel of a group at each distance; on entry `values` holds the previous group's."""
    ratios, squarings, _ = scales
    if squarings[group] == 0:
        kernel_at(distances, ratios[group], parameter, values)
    for _ in range(squarings[group]):
        for j in range(TILE):
            values[j] *= values[j]


def sum_block(
    block: Any, tiles: Any, weights: Any, count: int, scales: Any, parameter: float, sums: Any
) -> None:
    """sums[r, j] = sum_i weights[r, i] k(x_i, block's point j), for whole tiles before `count`.

    All arithmetic uses the precision of the tiles.
    """
    # Not unpacked from one array: the compiler would no longer know that they are contiguous.
    distances, values = np.empty((8, TILE), tiles.dtype), np.empty((8, TILE), tiles.dtype)
    eight = np.empty(8, tiles.dtype)
    sums[:] = 0.0
    for b in range(count // TILE):
        for i in range(0, TILE, 8):
            for k in range(8):
                squared_distances(block, tiles[b], i + k, distances[k])
            start = 0
            for group, stop in enumerate(scales[2]):
                for k in range(8):
                    kernel(distances[k], scales, group, parameter, values[k])
                for r in range(start, stop):
                    eight[:] = weights[r, b, i : i + 8]
                    add_eight(sums[r], eight, values)
                start = stop


def replay(
    store: Any,
    scalars: Any,
    rules: Any,
    scales: Any,
    peak: float,
    parameter: float,
    points: Any,
    curves: Any,
    rates: Any,
    decays: Any,
    thresholds: Any,
    incurred: Any,
) -> None:
    """Replay every round of every run; scalars[r] is fade, clock, constant and norm of run r."""
    tiles, weights, joined, folded = store
    breakpoints, losses, offsets = curves
    runs = len(scalars)
    block = np.zeros((points.shape[1], TILE), tiles.dtype)
    distances, values = np.empty(TILE, tiles.dtype), np.empty(TILE, tiles.dtype)
    sums, block_sums = np.empty((runs, TILE)), np.empty((runs, TILE), tiles.dtype)
    for t in range(len(points)):
        b, lane = t // TILE, t % TILE
        if lane == 0:
            for j in range(min(TILE, len(points) - t)):
                block[:, j] = points[t + j]
            sum_block(block, tiles, weights, t, scales, parameter, block_sums)
            sums[:] = block_sums
        tiles[b, :, lane] = points[t]
        squared_distances(block, block, lane, distances)
        group, stop = -1, 0
        for r in range(runs):
            if r == stop:
                group += 1
                stop = scales[2][group]
                kernel(distances, scales, group, parameter, values)
            fade, clock, constant, norm = scalars[r]
            alpha, floor, clip, radius, scale = rules[r]
            value = fade * sums[r, lane]
            threshold = clip_value(value, clip) + constant
            loss = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], threshold)
            thresholds[r, t], incurred[r, t] = threshold, loss
            push = rates[r, t] * (loss - alpha)
            norm = next_squared_norm(norm, decays[r, t], push, value, scale * peak)
            clock += fade
            fade *= decays[r, t]
            if fade < MIN_FADE:
                fold((tiles, weights[r], joined[r], folded[r]), 0, t, fade, clock)
                sums[r] *= fade
                fade, clock = 1.0, 0.0
            weights[r, b, lane] = push * scale / fade
            joined[r, b, lane] = clock
            add_one(sums[r], weights[r, b, lane], values)
            if norm > radius * radius:
                fade *= projection_factor(norm, radius)
                norm = radius * radius
            scalars[r, 0], scalars[r, 1] = fade, clock
            scalars[r, 2], scalars[r, 3] = max(constant + push, floor), norm
