"""The lattice: f is a table of numbers on nodes, and a point touches only the nodes near it.

f = fade * sum_n heights_n phi_n, and the sum over rounds of f_t is
sum_n (clock * heights_n + offsets_n) phi_n: a term of weight b that joins at clock j adds b to
the heights and -j b to the offsets. lattice_places.py says how nodes are kept and found.
"""

from typing import Any

import numpy as np

from localarc.engine.inputs import scaled
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
    claim,
    find,
    full,
    in_reach,
    opened,
    stand,
    stands,
)
from localarc.engine.numba_tools import jit
from localarc.engine.rounds import clipped, grown, loss_at, to_ball
from localarc.engine.simd import (
    SIDE,
    every,
    load,
    multiply_add,
    part,
    plus,
    spread,
    store,
    times,
    total,
)

FAINT = 1e-3  # renormalise below this fade, as the exact expansion does
NEGLIGIBLE = 1e-290
BAND = 4  # rows that are read and written together: half a tile, as the shifts below say


@jit
def band_at(where: Any, layers: int, z: int, band: int, k: int) -> int:
    """Where the heights of a band begin: four rows of plane z, in tile column k."""
    tile = where[IDS + ((z >> 3) * across(where, 1) + (band >> 1)) * across(where, 2) + k]
    return (tile * 2 * layers + (z & 7)) * TILE_SIZE + (band & 1) * BAND * SIDE  # type: ignore[no-any-return]


@jit
def read(weights: Any, where: Any, nodes: Any, layers: int) -> float:
    """sum_n heights_n phi_n(x), in an order that depends on the place alone."""
    deep, high, wide = lines(weights)
    sums = spread(0.0)
    for k in range(across(where, 2)):
        lanes = spread(0.0)
        for z in range(where[3], where[6]):
            even, odd = spread(0.0), spread(0.0)  # two chains run abreast
            for band in range(where[4] >> 2, (where[7] + 3) >> 2):
                at, row = band_at(where, layers, z, band, k), BAND * band
                even = multiply_add(every(high, row), load(nodes, at), even)
                odd = multiply_add(every(high, row + 1), load(nodes, at + SIDE), odd)
                even = multiply_add(every(high, row + 2), load(nodes, at + 2 * SIDE), even)
                odd = multiply_add(every(high, row + 3), load(nodes, at + 3 * SIDE), odd)
            lanes = multiply_add(every(deep, z), plus(even, odd), lanes)
        sums = multiply_add(lanes, load(wide, SIDE * k), sums)
    return total(sums)  # type: ignore[no-any-return]


@jit
def write(weights: Any, where: Any, nodes: Any, layers: int, weight: float, clock: float) -> None:
    """heights_n += weight phi_n(x), offsets_n -= clock weight phi_n(x)."""
    deep, high, wide = lines(weights)
    later = layers * TILE_SIZE
    for k in range(across(where, 2)):
        for z in range(where[3], where[6]):
            rise = times(load(wide, SIDE * k), spread(weight * deep[z]))
            sink = times(rise, spread(-clock))
            for band in range(where[4] >> 2, (where[7] + 3) >> 2):
                at = band_at(where, layers, z, band, k)
                for q in range(BAND):
                    share = every(high, BAND * band + q)
                    height, offset = at + SIDE * q, at + SIDE * q + later
                    store(nodes, height, multiply_add(share, rise, load(nodes, height)))
                    store(nodes, offset, multiply_add(share, sink, load(nodes, offset)))


@jit
def lines(weights: Any) -> Any:
    """The node weights in each of the three dimensions."""
    lanes = len(weights) // 3
    return (
        part(weights, 0, lanes),
        part(weights, lanes, 2 * lanes),
        part(weights, 2 * lanes, 3 * lanes),
    )


@jit
def fold(nodes: Any, size: int, count: int, fade: float, clock: float) -> None:
    """Let the fade restart at 1 and the clock at 0, with nothing changed in f or its average."""
    for tile in range(count):
        heights = nodes[2 * tile * size : (2 * tile + 1) * size]
        offsets = nodes[(2 * tile + 1) * size : (2 * tile + 2) * size]
        for n in range(size):
            offsets[n] += clock * heights[n]
            faded = fade * heights[n]
            heights[n] = faded if abs(faded) > NEGLIGIBLE else 0.0


def value_at(reals: Any, wholes: Any, point: Any) -> float:
    """sum_n heights_n phi_n(point); 0 where no tile is."""
    if not in_reach(point, reals[STEP]):
        return 0.0
    weights, spot, nodes, where, table, pages = opened(reals, wholes)
    stand(weights, spot, where, point, reals[STEP], wholes[REACH])
    find(where, table, pages)
    return read(weights, where, nodes, wholes[LAYERS])


def values_at(reals: Any, wholes: Any, points: Any) -> Any:
    """`value_at` for each row of `points`, bit for bit."""
    results = np.empty(len(points))
    for i in range(len(points)):
        results[i] = value_at(reals, wholes, points[i])
    return results


@jit
def made_room(reals: Any, wholes: Any, point: Any) -> bool:
    """Put a point in its place with all of its tiles, or answer False: no room, or out of reach.

    Its place is often known already, from the evaluation that led to the term.
    """
    weights, spot, nodes, where, table, pages = opened(reals, wholes)
    if full(wholes, where, nodes, pages) or not in_reach(point, reals[STEP]):
        return False
    if not stands(spot, point):
        stand(weights, spot, where, point, reals[STEP], wholes[REACH])
        find(where, table, pages)
    claim(wholes, where, table, pages)
    return True


@jit
def put(reals: Any, wholes: Any, weight: float, clock: float) -> None:
    """A term of the point for which room was made."""
    weights, _, nodes, where, _, _ = opened(reals, wholes)
    write(weights, where, nodes, wholes[LAYERS], weight, clock)


def add_at(reals: Any, wholes: Any, point: Any, weight: float, clock: float) -> bool:
    """Add one term, or answer False and change nothing."""
    if not made_room(reals, wholes, point):
        return False
    put(reals, wholes, weight, clock)
    return True


def evaluate_raw(reals: Any, wholes: Any, point: Any) -> float:
    """f at a point that is still to be divided by the roots; NaN if it is not healthy."""
    here = part(reals, HERE, HERE + len(point))
    if not scaled(point, reals[ROOTS:], here):
        return np.nan
    return reals[FADE] * value_at(reals, wholes, here)  # type: ignore[no-any-return]


def learn(reals: Any, wholes: Any, point: Any, decay: float, weight: float) -> bool:
    """One round with such a point, or False and nothing has changed: unhealthy, or no room."""
    here = part(reals, HERE, HERE + len(point))
    if not scaled(point, reals[ROOTS:], here) or not made_room(reals, wholes, here):
        return False
    reals[CLOCK] += reals[FADE]
    reals[FADE] *= decay
    reals[ROUNDS] += 1.0
    if reals[FADE] < FAINT:
        fold_all(reals, wholes)
    put(reals, wholes, weight * reals[WEIGHT] / reals[FADE], reals[CLOCK])
    return True


@jit
def fold_all(reals: Any, wholes: Any) -> None:
    """`fold`, for the arrays as Python holds them."""
    nodes = opened(reals, wholes)[2]
    fold(nodes, wholes[LAYERS] * TILE_SIZE, wholes[TILES], reals[FADE], reals[CLOCK])
    reals[FADE], reals[CLOCK] = 1.0, 0.0


def replay(
    reals: Any,
    wholes: Any,
    scalars: tuple[float, float, float, float],
    rules: tuple[float, float, float, float, float, float],
    points: Any,
    curves: Any,
    rates: Any,
    decays: Any,
    thresholds: Any,
    incurred: Any,
) -> tuple[int, float, float, float, float]:
    """Play rounds until `add_at` would answer False: the number played comes first."""
    step, reach, layers = reals[STEP], wholes[REACH], wholes[LAYERS]
    weights, spot, nodes, where, table, pages = opened(reals, wholes)
    fade, clock, constant, norm = scalars
    alpha, clip, radius, scale, peak, _ = rules
    breakpoints, losses, offsets = curves
    for t in range(len(points)):
        if full(wholes, where, nodes, pages) or not in_reach(points[t], step):
            return t, fade, clock, constant, norm
        stand(weights, spot, where, points[t], step, reach)
        if not find(where, table, pages):
            claim(wholes, where, table, pages)
        value = fade * read(weights, where, nodes, layers)
        thresholds[t] = clipped(value, clip) + constant
        incurred[t] = loss_at(breakpoints, losses, offsets[t], offsets[t + 1], thresholds[t])
        push = rates[t] * (incurred[t] - alpha)
        constant += push
        norm = grown(norm, decays[t], push, value, peak)
        clock += fade
        fade *= decays[t]
        if fade < FAINT:
            fold(nodes, layers * TILE_SIZE, wholes[TILES], fade, clock)
            fade, clock = 1.0, 0.0
        write(weights, where, nodes, layers, push * scale / fade, clock)
        if norm > radius * radius:
            fade *= to_ball(norm, radius)
            norm = radius * radius
    return len(points), fade, clock, constant, norm
