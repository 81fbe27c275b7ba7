"""A dictionary of atoms with an exact buffer in front: any kernel, any number of features.

f = fade * (sum_j heights_j k(atom_j, .) + sum_i weights_i k(x_i, .)), where i runs over the buffer:
the latest points, exactly. The sum behind the average has `offsets` for the heights, as on a
lattice, and `joined` and `folded` for the weights, as in the exact expansion.

`atoms` are tiles; `coefs` is (heights, offsets); `buffer` is one tile of points and the rows
weights, joined and folded below it; to_atoms[i] and to_buffer[i] are the kernel between point i of
the buffer and the atoms and earlier points; row `held` of both belongs to the latest evaluation.
`tables` are all of these arrays, in the order (atoms, coefs, factor, to_atoms, to_buffer, buffer,
probes, truths). `address` points to a table of the addresses of these arrays, of `numbers`, and of
the functions that flush a buffer, which are compiled once for all loops.

`numbers` is everything else that a step changes, so that one compiled call is the whole step:
Python can be interrupted between two calls, but not within one. The roots at its end are
followed by the raw point of the latest evaluation, infinite if another has used the row since.
"""

from typing import Any

import numpy as np
from numba import carray  # type: ignore[attr-defined]

from localarc.engine.addresses import caller_of, float_pointer, integer_pointer
from localarc.engine.dictionary.flush import dot, flush
from localarc.engine.dictionary.probes import largest_deviation, place_probes, replace_probe
from localarc.engine.numba_tools import FLOAT, INTEGER, jit
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

# The error that one flush may make, in tolerances: at the points it flushes, and in the kernel's
# norm. Both were found by experiment: the errors of many flushes add up, and most of the error lies
# where no point has been yet, which only the norm measures.
AT_POINTS = 1 / 100
IN_NORM = 2.0

# The entries of `numbers`: what a step changes, and from TOLERANCE on what it only reads.
# LOST and RESIDUAL are what `project_buffer` reports.
FADE, CLOCK, ROUNDS, SIZE, HELD, ERROR, FLUSHES = range(7)
TOLERANCE, SCALE, PEAK, LOST, RESIDUAL, ROOTS = range(7, 13)

# The functions whose addresses follow the arrays in the table.
FLUSH, PROJECT = range(9, 11)
call_flush: Any = caller_of(INTEGER, FLOAT)
call_project: Any = caller_of(INTEGER, FLOAT, FLOAT)


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


@jit
def latest(numbers: Any, dimensions: int) -> Any:
    """The raw point whose kernel rows are in row `held`."""
    return numbers[ROOTS + dimensions :]


@jit
def is_latest(numbers: Any, point: Any) -> bool:
    """Whether the kernel rows in row `held` are those of this raw point."""
    known = latest(numbers, len(point))
    for k in range(len(point)):  # noqa: SIM110 (compiled: no generators)
        if known[k] != point[k]:
            return False
    return True


def evaluate_raw(
    atoms: Any, coefs: Any, to_atoms: Any, to_buffer: Any, buffer: Any, numbers: Any,
    parameter: float, point: Any,
) -> float:  # fmt: skip
    """f at a raw point, before division by the roots; NaN unless finite and in range."""
    here = np.empty(len(point))
    if not scale_point(point, numbers[ROOTS:], here):
        return np.nan
    size, held = int(numbers[SIZE]), int(numbers[HELD])
    value = value_at(size, held, atoms, coefs, to_atoms, to_buffer, buffer, here, parameter)
    latest(numbers, len(point))[:] = point
    return numbers[FADE] * value  # type: ignore[no-any-return]


@jit
def accumulate(numbers: Any) -> None:
    """Add the current f to the sum behind the average."""
    numbers[CLOCK] += numbers[FADE]
    numbers[ROUNDS] += 1.0


@jit
def shrink(tables: Any, numbers: Any, factor: float) -> None:
    """f <- factor f, for 0 < factor <= 1."""
    _, coefs, _, _, _, buffer, _, truths = tables
    numbers[FADE] *= factor
    if numbers[FADE] < MIN_FADE:
        fold(coefs, truths, buffer, numbers[FADE], numbers[CLOCK])
        numbers[FADE], numbers[CLOCK] = 1.0, 0.0


@jit
def table_at(address: int) -> Any:
    """The addresses of arrays and functions."""
    return carray(integer_pointer(address), (PROJECT + 1, 4))


@jit
def unpack(address: int) -> Any:
    """The arrays, given the address of their addresses."""
    table = table_at(address)
    at, n, m, k = table[:, 0], table[:, 1], table[:, 2], table[:, 3]
    tables = (
        carray(float_pointer(at[0]), (n[0], m[0], k[0])),
        carray(float_pointer(at[1]), (n[1], m[1])),
        carray(float_pointer(at[2]), (n[2], m[2])),
        carray(float_pointer(at[3]), (n[3], m[3])),
        carray(float_pointer(at[4]), (n[4], m[4])),
        carray(float_pointer(at[5]), (n[5], m[5])),
        carray(float_pointer(at[6]), (n[6], m[6])),
        carray(float_pointer(at[7]), (n[7],)),
    )
    return tables, carray(float_pointer(at[8]), (n[8],))


def project_buffer(address: int, limit: float, norm_limit: float) -> int:
    """`flush` for the arrays at an address, with any kernel; 1, or 0 if it failed."""
    (atoms, coefs, factor, to_atoms, to_buffer, buffer, _, _), numbers = unpack(address)
    size, lost, norm = flush(
        atoms, coefs, factor, to_atoms, to_buffer, buffer, int(numbers[SIZE]),
        limit, norm_limit, numbers[PEAK],
    )  # fmt: skip
    numbers[SIZE], numbers[LOST], numbers[RESIDUAL] = size, lost, norm
    return 1


def flush_buffer(address: int, parameter: float) -> int:
    """Flush the full buffer into the dictionary, and measure the error; 1, or 0 if it failed."""
    (atoms, coefs, _, to_atoms, to_buffer, buffer, probes, truths), numbers = unpack(address)
    dimensions, fade = atoms.shape[1], numbers[FADE]
    points = buffer[:dimensions]
    if numbers[FLUSHES] == 0.0:
        place_probes(probes, points)
    truths[:-1] += values_at(0, TILE, atoms, coefs, to_atoms, to_buffer, buffer, probes, parameter)
    allowed = numbers[TOLERANCE] / fade
    limits = address, AT_POINTS * allowed, IN_NORM * allowed
    if call_project(table_at(address)[PROJECT, 0], limits) != 1:
        return 0
    size = int(numbers[SIZE])
    values = values_at(size, 0, atoms, coefs, to_atoms, to_buffer, buffer, probes, parameter)
    error = fade * max(largest_deviation(truths, values), numbers[LOST])
    turn = replace_probe(probes, points, int(numbers[FLUSHES]))
    truths[turn] = values_at(
        size, 0, atoms, coefs, to_atoms, to_buffer, buffer, probes[turn : turn + 1], parameter
    )[0]
    truths[-1] += numbers[RESIDUAL]
    buffer[dimensions:] = 0.0
    numbers[HELD] = 0.0
    numbers[ERROR] = max(numbers[ERROR], error)
    numbers[FLUSHES] += 1.0
    return 1


@jit
def flush_at(address: int, parameter: float) -> None:
    """`flush_buffer` of the kernel and the arrays at an address."""
    if call_flush(table_at(address)[FLUSH, 0], (address, parameter)) != 1:
        raise MemoryError


@jit
def add(address: int, tables: Any, numbers: Any, parameter: float, weight: float) -> None:
    """Add a term at the point in column `held`, whose kernel rows are in row `held`."""
    atoms, _, _, _, _, buffer, _, _ = tables
    dimensions, held = atoms.shape[1], int(numbers[HELD])
    buffer[dimensions, held] = weight * numbers[SCALE] / numbers[FADE]
    buffer[dimensions + 1, held] = numbers[CLOCK]
    latest(numbers, dimensions)[:] = np.inf
    numbers[HELD] += 1.0
    if held + 1 == TILE:
        flush_at(address, parameter)


def learn(
    atoms: Any, coefs: Any, factor: Any, to_atoms: Any, to_buffer: Any, buffer: Any, probes: Any,
    truths: Any, numbers: Any, parameter: float, address: int, projection: float, point: Any,
    decay: float, weight: float,
) -> bool:  # fmt: skip
    """One round with a raw point, then f <- projection f; False, and nothing changed, if the point
    is not finite and in range."""
    if not is_latest(numbers, point) and np.isnan(
        evaluate_raw(atoms, coefs, to_atoms, to_buffer, buffer, numbers, parameter, point)
    ):
        return False
    tables = atoms, coefs, factor, to_atoms, to_buffer, buffer, probes, truths
    scale_point(point, numbers[ROOTS:], buffer[:, int(numbers[HELD])])
    accumulate(numbers)
    shrink(tables, numbers, decay)
    add(address, tables, numbers, parameter, weight)
    shrink(tables, numbers, projection)
    return True


def replay(
    address: int,
    tables: Any,
    numbers: Any,
    start: tuple[float, float],
    rules: tuple[float, float, float, float, float, float, float],
    points: Any,
    curves: Any,
    rates: Any,
    decays: Any,
    thresholds: Any,
    incurred: Any,
) -> tuple[int, float, float]:
    """Replay rounds until the last, or until the buffer was full and has been flushed.

    Returns the number of rounds played, the constant and |f|^2."""
    atoms, coefs, _, to_atoms, to_buffer, buffer, _, truths = tables
    size, held = int(numbers[SIZE]), int(numbers[HELD])
    fade, clock = numbers[FADE], numbers[CLOCK]
    constant, norm = start
    alpha, floor, clip, radius, scale, peak, parameter = rules
    breakpoints, losses, offsets = curves
    dimensions = points.shape[1]
    latest(numbers, dimensions)[:] = np.inf
    t = 0
    while t < len(points) and held < TILE:
        value = fade * value_at(
            size, held, atoms, coefs, to_atoms, to_buffer, buffer, points[t], parameter
        )
        thresholds[t] = clip_value(value, clip) + constant
        incurred[t] = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], thresholds[t])
        push = rates[t] * (incurred[t] - alpha)
        constant = max(constant + push, floor)
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
    numbers[FADE], numbers[CLOCK], numbers[HELD] = fade, clock, held
    numbers[ROUNDS] += t
    if held == TILE:
        flush_at(address, parameter)
    return t, constant, norm
