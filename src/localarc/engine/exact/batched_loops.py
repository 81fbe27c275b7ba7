"""Many exact runs over one stream: distances and kernels once, the sums as many as the runs.

As `exact_loops.replay`, from an empty start and without a window; `weights`, `joined` and `folded`
have one more dimension in front, the run, and so have the numbers that carry on.

Runs with one length scale stand together. `scales` says of each such group by what its squared
distances exceed those of the points (ratios), how often the kernel of the group before has to be
squared to become its own, 0 if that does not do it (squarings), and where it ends (stops).
"""

from typing import Any

import numpy as np

from localarc.engine.exact.loops import FAINT, fold
from localarc.engine.numba_tools import jit
from localarc.engine.rounds import clipped, grown, loss_at, to_ball
from localarc.engine.tiles import TILE, shaped, squares


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
    """The kernel of a group at each distance; `values` has that of the group before."""
    ratios, squarings, _ = scales
    if squarings[group] == 0:
        shaped(distances, ratios[group], parameter, values)
    for _ in range(squarings[group]):
        for j in range(TILE):
            values[j] *= values[j]


def hear(
    block: Any, tiles: Any, weights: Any, count: int, scales: Any, parameter: float, sums: Any
) -> None:
    """sums[r, j] = sum_i weights[r, i] k(x_i, block's point j), for whole tiles before `count`.

    All arithmetic is in the precision of the tiles.
    """
    # Not unpacked from one array: the compiler would no longer know that they are contiguous.
    distances, values = np.empty((8, TILE), tiles.dtype), np.empty((8, TILE), tiles.dtype)
    eight = np.empty(8, tiles.dtype)
    sums[:] = 0.0
    for b in range(count // TILE):
        for i in range(0, TILE, 8):
            for k in range(8):
                squares(block, tiles[b], i + k, distances[k])
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
    """Play every round of every run; scalars[r] is fade, clock, constant and norm of run r."""
    tiles, weights, joined, folded = store
    breakpoints, losses, offsets = curves
    runs = len(scalars)
    block = np.zeros((points.shape[1], TILE), tiles.dtype)
    distances, values = np.empty(TILE, tiles.dtype), np.empty(TILE, tiles.dtype)
    sums, heard = np.empty((runs, TILE)), np.empty((runs, TILE), tiles.dtype)
    for t in range(len(points)):
        b, lane = t // TILE, t % TILE
        if lane == 0:
            for j in range(min(TILE, len(points) - t)):
                block[:, j] = points[t + j]
            hear(block, tiles, weights, t, scales, parameter, heard)
            sums[:] = heard
        tiles[b, :, lane] = points[t]
        squares(block, block, lane, distances)
        group, stop = -1, 0
        for r in range(runs):
            if r == stop:
                group += 1
                stop = scales[2][group]
                kernel(distances, scales, group, parameter, values)
            fade, clock, constant, norm = scalars[r]
            alpha, clip, radius, scale = rules[r]
            value = fade * sums[r, lane]
            threshold = clipped(value, clip) + constant
            loss = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], threshold)
            thresholds[r, t], incurred[r, t] = threshold, loss
            push = rates[r, t] * (loss - alpha)
            norm = grown(norm, decays[r, t], push, value, scale * peak)
            clock += fade
            fade *= decays[r, t]
            if fade < FAINT:
                fold((tiles, weights[r], joined[r], folded[r]), 0, t, fade, clock)
                sums[r] *= fade
                fade, clock = 1.0, 0.0
            weights[r, b, lane] = push * scale / fade
            joined[r, b, lane] = clock
            add_one(sums[r], weights[r, b, lane], values)
            if norm > radius * radius:
                fade *= to_ball(norm, radius)
                norm = radius * radius
            scalars[r, 0], scalars[r, 1] = fade, clock
            scalars[r, 2], scalars[r, 3] = constant + push, norm
