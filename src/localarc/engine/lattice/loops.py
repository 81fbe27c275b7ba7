"""The lattice: f is a table of numbers on nodes, and a point touches only the nodes near it.

f = fade * sum_n heights_n phi_n, and the sum of f_t over the rounds is
sum_n (clock * heights_n + offsets_n) phi_n: a term of weight b added at clock j adds b to the
heights and -j b to the offsets. layout.py describes how nodes are stored and found.
"""

from typing import Any

import numpy as np

from localarc.engine.lattice.layout import (
    CLOCK,
    FADE,
    HERE,
    IDS,
    LAYERS,
    REACH,
    ROOTS,
    ROUNDS,
    STEP,
    TILE_SIZE,
    TILES,
    WEIGHT,
    across,
    allocate_tiles,
    find_tiles,
    is_full,
    is_in_reach,
    is_located,
    locate,
    unpack,
)
from localarc.engine.numba_tools import jit
from localarc.engine.simd import (
    SIDE,
    add,
    broadcast,
    broadcast_at,
    load,
    multiply,
    multiply_add,
    store,
    sum_lanes,
    view,
)
from localarc.engine.step import (
    MIN_FADE,
    NEGLIGIBLE,
    clip_value,
    loss_at,
    next_squared_norm,
    projection_factor,
    scale_point,
)

BAND = 4  # rows that are read and written together: half a tile, as the shifts below assume


@jit
def band_at(where: Any, layers: int, z: int, band: int, k: int) -> int:
    """The offset of a band's heights: four rows of plane z, in tile column k."""
    tile = where[IDS + ((z >> 3) * across(where, 1) + (band >> 1)) * across(where, 2) + k]
    return (tile * 2 * layers + (z & 7)) * TILE_SIZE + (band & 1) * BAND * SIDE  # type: ignore[no-any-return]


@jit
def read(weights: Any, where: Any, nodes: Any, layers: int) -> float:
    """sum_n heights_n phi_n(x), in an order that depends on the location alone."""
    deep, high, wide = lines(weights)
    sums = broadcast(0.0)
    for k in range(across(where, 2)):
        lanes = broadcast(0.0)
        for z in range(where[3], where[6]):
            even, odd = broadcast(0.0), broadcast(0.0)  # two independent chains of additions
            for band in range(where[4] >> 2, (where[7] + 3) >> 2):
                at, row = band_at(where, layers, z, band, k), BAND * band
                even = multiply_add(broadcast_at(high, row), load(nodes, at), even)
                odd = multiply_add(broadcast_at(high, row + 1), load(nodes, at + SIDE), odd)
                even = multiply_add(broadcast_at(high, row + 2), load(nodes, at + 2 * SIDE), even)
                odd = multiply_add(broadcast_at(high, row + 3), load(nodes, at + 3 * SIDE), odd)
            lanes = multiply_add(broadcast_at(deep, z), add(even, odd), lanes)
        sums = multiply_add(lanes, load(wide, SIDE * k), sums)
    return sum_lanes(sums)  # type: ignore[no-any-return]


@jit
def write(weights: Any, where: Any, nodes: Any, layers: int, weight: float, clock: float) -> None:
    """heights_n += weight phi_n(x), offsets_n -= clock weight phi_n(x)."""
    deep, high, wide = lines(weights)
    later = layers * TILE_SIZE
    for k in range(across(where, 2)):
        for z in range(where[3], where[6]):
            rise = multiply(load(wide, SIDE * k), broadcast(weight * deep[z]))
            sink = multiply(rise, broadcast(-clock))
            for band in range(where[4] >> 2, (where[7] + 3) >> 2):
                at = band_at(where, layers, z, band, k)
                for q in range(BAND):
                    share = broadcast_at(high, BAND * band + q)
                    height, offset = at + SIDE * q, at + SIDE * q + later
                    store(nodes, height, multiply_add(share, rise, load(nodes, height)))
                    store(nodes, offset, multiply_add(share, sink, load(nodes, offset)))


@jit
def lines(weights: Any) -> Any:
    """The node weights in each of the three dimensions."""
    lanes = len(weights) // 3
    return (
        view(weights, 0, lanes),
        view(weights, lanes, 2 * lanes),
        view(weights, 2 * lanes, 3 * lanes),
    )


@jit
def fold(nodes: Any, size: int, count: int, fade: float, clock: float) -> None:
    """Reset the fade to 1 and the clock to 0, without changing f or its average."""
    for tile in range(count):
        heights = nodes[2 * tile * size : (2 * tile + 1) * size]
        offsets = nodes[(2 * tile + 1) * size : (2 * tile + 2) * size]
        for n in range(size):
            offsets[n] += clock * heights[n]
            faded = fade * heights[n]
            heights[n] = faded if abs(faded) > NEGLIGIBLE else 0.0


def value_at(floats: Any, integers: Any, point: Any) -> float:
    """sum_n heights_n phi_n(point); 0 where there is no tile."""
    if not is_in_reach(point, floats[STEP]):
        return 0.0
    weights, spot, nodes, where, table, pages = unpack(floats, integers)
    locate(weights, spot, where, point, floats[STEP], integers[REACH])
    find_tiles(where, table, pages)
    return read(weights, where, nodes, integers[LAYERS])


def values_at(floats: Any, integers: Any, points: Any) -> Any:
    """`value_at` for each row of `points`, bit for bit."""
    results = np.empty(len(points))
    for i in range(len(points)):
        results[i] = value_at(floats, integers, points[i])
    return results


@jit
def make_room(floats: Any, integers: Any, point: Any) -> bool:
    """Locate a point and allocate its tiles, or return False: no room, or out of reach.

    The location is often known already, from the evaluation that preceded the term.
    """
    weights, spot, nodes, where, table, pages = unpack(floats, integers)
    if is_full(integers, where, nodes, pages) or not is_in_reach(point, floats[STEP]):
        return False
    if not is_located(spot, point):
        locate(weights, spot, where, point, floats[STEP], integers[REACH])
        find_tiles(where, table, pages)
    allocate_tiles(integers, where, table, pages)
    return True


@jit
def add_located(floats: Any, integers: Any, weight: float, clock: float) -> None:
    """Add a term at the point that `make_room` located."""
    weights, _, nodes, where, _, _ = unpack(floats, integers)
    write(weights, where, nodes, integers[LAYERS], weight, clock)


def add_at(floats: Any, integers: Any, point: Any, weight: float, clock: float) -> bool:
    """Add one term, or return False and change nothing."""
    if not make_room(floats, integers, point):
        return False
    add_located(floats, integers, weight, clock)
    return True


def evaluate_raw(floats: Any, integers: Any, point: Any) -> float:
    """f at a raw point, before division by the roots; NaN unless finite and in range."""
    here = view(floats, HERE, HERE + len(point))
    if not scale_point(point, floats[ROOTS:], here):
        return np.nan
    return floats[FADE] * value_at(floats, integers, here)  # type: ignore[no-any-return]


@jit
def learn(floats: Any, integers: Any, point: Any, decay: float, weight: float) -> bool:
    """One round with a raw point; False, and nothing changed, if it is invalid or has no room."""
    here = view(floats, HERE, HERE + len(point))
    if not scale_point(point, floats[ROOTS:], here) or not make_room(floats, integers, here):
        return False
    accumulate(floats)
    shrink(floats, integers, decay)
    add_located(floats, integers, weight * floats[WEIGHT] / floats[FADE], floats[CLOCK])
    return True


def learn_projected(
    floats: Any, integers: Any, projection: float, point: Any, decay: float, weight: float
) -> bool:
    """`learn`, then f <- projection f. Another argument costs a few percent of a step: so both."""
    if not learn(floats, integers, point, decay, weight):
        return False
    shrink(floats, integers, projection)
    return True


@jit
def accumulate(floats: Any) -> None:
    """Add the current f to the sum behind the average."""
    floats[CLOCK] += floats[FADE]
    floats[ROUNDS] += 1.0


@jit
def shrink(floats: Any, integers: Any, factor: float) -> None:
    """f <- factor f, for 0 < factor <= 1."""
    floats[FADE] *= factor
    if floats[FADE] < MIN_FADE:
        nodes = unpack(floats, integers)[2]
        fold(nodes, integers[LAYERS] * TILE_SIZE, integers[TILES], floats[FADE], floats[CLOCK])
        floats[FADE], floats[CLOCK] = 1.0, 0.0


def replay(
    floats: Any,
    integers: Any,
    start: tuple[float, float],
    rules: tuple[float, float, float, float, float, float, float],
    points: Any,
    curves: Any,
    rates: Any,
    decays: Any,
    thresholds: Any,
    incurred: Any,
) -> tuple[int, float, float]:
    """Replay rounds until `add_at` would return False.

    Returns the number of rounds played, the constant and |f|^2."""
    step, reach, layers = floats[STEP], integers[REACH], integers[LAYERS]
    weights, spot, nodes, where, table, pages = unpack(floats, integers)
    fade, clock = floats[FADE], floats[CLOCK]
    constant, norm = start
    alpha, floor, clip, radius, scale, peak, _ = rules
    breakpoints, losses, offsets = curves
    t = 0
    while t < len(points) and is_in_reach(points[t], step):
        if is_full(integers, where, nodes, pages):
            break
        locate(weights, spot, where, points[t], step, reach)
        if not find_tiles(where, table, pages):
            allocate_tiles(integers, where, table, pages)
        value = fade * read(weights, where, nodes, layers)
        thresholds[t] = clip_value(value, clip) + constant
        incurred[t] = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], thresholds[t])
        push = rates[t] * (incurred[t] - alpha)
        constant = max(constant + push, floor)
        norm = next_squared_norm(norm, decays[t], push, value, peak)
        clock += fade
        fade *= decays[t]
        if fade < MIN_FADE:
            fold(nodes, layers * TILE_SIZE, integers[TILES], fade, clock)
            fade, clock = 1.0, 0.0
        write(weights, where, nodes, layers, push * scale / fade, clock)
        if norm > radius * radius:
            fade *= projection_factor(norm, radius)
            norm = radius * radius
        t += 1
    floats[FADE], floats[CLOCK] = fade, clock
    floats[ROUNDS] += t
    return t, constant, norm
