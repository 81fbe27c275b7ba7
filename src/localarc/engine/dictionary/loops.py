"""A dictionary of atoms with an exact buffer in front: any kernel, any number of features.

f = fade * (sum_j heights_j k(atom_j, .) + sum_i weights_i k(x_i, .)), where i runs over the buffer:
the latest points, exactly. The sum behind the average has `offsets` for the heights, as on a
lattice, and `joined` and `folded` for the weights, as in the exact expansion.

`atoms` are tiles; `coefs` is (heights, offsets); `buffer` is one tile of points and the rows
weights, joined and folded below it; to_atoms[i] and to_buffer[i] are the kernel between point i of
the buffer and the atoms and earlier points; row `held` of both belongs to the latest evaluation.
"""

from typing import Any

import numpy as np

from localarc.engine.dictionary.flush import dot
from localarc.engine.numba_tools import jit
from localarc.engine.step import (
    MIN_FADE,
    NEGLIGIBLE,
    clip_value,
    loss_at,
    next_squared_norm,
    projection_factor,
    scale_point,
)
from localarc.engine.tiles import TILE, kernel_row

VECTORS = 32  # kernels are evaluated in groups of this size


@jit
def round_up(count: int) -> int:
    """The count, rounded up to a whole number of vectors on any processor."""
    return -(-count // VECTORS) * VECTORS


def value_at(
    size: int, held: int, atoms: Any, coefs: Any, to_atoms: Any, to_buffer: Any, buffer: Any,
    point: Any, parameter: float,
) -> float:  # fmt: skip
    """f / fade at a point; leaves its kernel rows in row `held`."""
    dimensions = atoms.shape[1]
    heights, near, late = coefs[0], to_atoms[held], to_buffer[held]
    column = point.reshape((dimensions, 1))
    for b in range((size + TILE - 1) // TILE):
        kernel_row(
            atoms[b], column, 0, parameter, near[b * TILE : min((b + 1) * TILE, round_up(size))]
        )
    kernel_row(buffer[:dimensions], column, 0, parameter, late[: round_up(held)])
    exact = dot(buffer[dimensions, :held], late[:held])
    return exact + dot(heights[:size], near[:size])  # type: ignore[no-any-return]


def evaluate_raw(
    atoms: Any, coefs: Any, to_atoms: Any, to_buffer: Any, buffer: Any, roots: Any,
    parameter: float, size: int, held: int, point: Any,
) -> float:  # fmt: skip
    """`value_at` for a raw point, before division by the roots; NaN unless finite and in range."""
    here = np.empty(len(point))
    if not scale_point(point, roots, here):
        return np.nan
    return value_at(
        size, held, atoms, coefs, to_atoms, to_buffer, buffer, here, parameter
    )  # fmt: skip


def append(buffer: Any, roots: Any, held: int, point: Any, weight: float, clock: float) -> None:
    """Append a raw point to the buffer."""
    dimensions = len(point)
    for j in range(dimensions):
        buffer[j, held] = point[j] / roots[j]
    buffer[dimensions, held] = weight
    buffer[dimensions + 1, held] = clock


def values_at(
    size: int, held: int, atoms: Any, coefs: Any, to_atoms: Any, to_buffer: Any, buffer: Any,
    points: Any, parameter: float,
) -> Any:  # fmt: skip
    """`value_at` for each row of `points`, bit for bit."""
    results = np.empty(len(points))
    for i in range(len(points)):
        results[i] = value_at(
            size, held, atoms, coefs, to_atoms, to_buffer, buffer, points[i], parameter
        )
    return results


@jit
def fold(coefs: Any, truths: Any, buffer: Any, fade: float, clock: float) -> None:
    """Reset the fade to 1 and the clock to 0, without changing f or its average."""
    weights, joined, folded = buffer[-3], buffer[-2], buffer[-1]
    for i in range(TILE):
        folded[i] += weights[i] * (clock - joined[i])
        joined[i] = 0.0
        weights[i] *= fade
    heights, offsets = coefs[0], coefs[1]
    for j in range(len(heights)):
        offsets[j] += clock * heights[j]
        faded = fade * heights[j]
        heights[j] = faded if abs(faded) > NEGLIGIBLE else 0.0
    for p in range(len(truths)):
        truths[p] *= fade


def replay(
    tables: Any,
    counts: tuple[int, int],
    scalars: tuple[float, float, float, float],
    rules: tuple[float, float, float, float, float, float],
    points: Any,
    curves: Any,
    rates: Any,
    decays: Any,
    thresholds: Any,
    incurred: Any,
) -> tuple[int, int, float, float, float, float]:
    """Replay rounds until the last, or until the buffer is full.

    Returns the number of rounds played, and the state to continue from."""
    atoms, coefs, to_atoms, to_buffer, buffer, truths = tables
    size, held = counts
    fade, clock, constant, norm = scalars
    alpha, clip, radius, scale, peak, parameter = rules
    breakpoints, losses, offsets = curves
    dimensions = points.shape[1]
    t = 0
    while t < len(points) and held < TILE:
        value = fade * value_at(
            size, held, atoms, coefs, to_atoms, to_buffer, buffer, points[t], parameter
        )
        thresholds[t] = clip_value(value, clip) + constant
        incurred[t] = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], thresholds[t])
        push = rates[t] * (incurred[t] - alpha)
        constant += push
        norm = next_squared_norm(norm, decays[t], push, value, peak)
        clock += fade
        fade *= decays[t]
        if fade < MIN_FADE:
            fold(coefs, truths, buffer, fade, clock)
            fade, clock = 1.0, 0.0
        buffer[:dimensions, held] = points[t]
        buffer[dimensions, held] = push * scale / fade
        buffer[dimensions + 1, held] = clock
        held += 1
        if norm > radius * radius:
            fade *= projection_factor(norm, radius)
            norm = radius * radius
        t += 1
    return t, held, fade, clock, constant, norm
