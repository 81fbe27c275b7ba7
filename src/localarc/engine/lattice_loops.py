"""The lattice: f is a table of numbers on nodes, and a point touches only the nodes near it.

f = fade * sum_n heights_n phi_n, and the sum over rounds of f_t is
sum_n (clock * heights_n + offsets_n) phi_n: a term of weight b that joins at clock j adds b to
the heights and -j b to the offsets. lattice_places.py says how nodes are kept and found.
"""

from typing import Any

import numpy as np

from localarc.engine.compiled import jit
from localarc.engine.inputs import scaled
from localarc.engine.lattice_places import (
    CLOCK,
    FADE,
    IDS,
    ROOTS,
    ROUNDS,
    STEP,
    TILES,
    WEIGHT,
    claim,
    find,
    full,
    in_reach,
    lines,
    opened,
    stand,
    stands,
)
from localarc.engine.rounds import clipped, grown, loss_at, to_ball, total
from localarc.engine.vectors import SIDE, TILE_SIZE, add_products, add_rows, add_terms, part

FAINT = 1e-3  # renormalise below this fade, as the exact expansion does
NEGLIGIBLE = 1e-290


@jit
def read(phi: Any, where: Any, nodes: Any, layers: int) -> float:
    """sum_n heights_n phi_n(x), in an order that depends on the place alone."""
    deep, high, wide = lines(phi)
    scratch = phi[2]
    sums, lanes = part(scratch, 0, SIDE), part(scratch, SIDE, 2 * SIDE)
    sums[:] = 0.0
    for k in range(where[5]):
        lanes[:] = 0.0
        for i in range(where[3]):
            for j in range(where[4]):
                tile = where[IDS + (i * where[4] + j) * where[5] + k] * 2 * layers
                for p in range(layers):
                    at = (tile + p) * TILE_SIZE
                    add_rows(lanes, deep[i * layers + p], high, SIDE * j, nodes, at)
        add_terms(sums, lanes, wide, SIDE * k)
    return total(sums)


@jit
def write(phi: Any, where: Any, nodes: Any, layers: int, weight: float, clock: float) -> None:
    """heights_n += weight phi_n(x), offsets_n -= clock weight phi_n(x)."""
    deep, high, wide = lines(phi)
    n = IDS
    for i in range(where[3]):
        for j in range(where[4]):
            for k in range(where[5]):
                for p in range(layers):
                    rise = weight * deep[i * layers + p]
                    tile = (where[n] * 2 * layers + p) * TILE_SIZE
                    late = tile + layers * TILE_SIZE
                    add_products(
                        nodes, tile, late, high, SIDE * j, wide, SIDE * k, rise, -clock * rise
                    )
                n += 1


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
    phi, nodes, where, table, pages = opened(reals, wholes)
    stand(phi, where, point, reals[STEP], wholes[0])
    find(where, table, pages)
    return read(phi, where, nodes, wholes[1])


def values_at(reals: Any, wholes: Any, points: Any) -> Any:
    """`value_at` for each row of `points`, bit for bit."""
    results = np.empty(len(points))
    for i in range(len(points)):
        results[i] = value_at(reals, wholes, points[i])
    return results


def add_at(reals: Any, wholes: Any, point: Any, weight: float, clock: float) -> bool:
    """Add one term, or answer False and change nothing: no room, or the point is out of reach.

    Its place is often known already, from the evaluation that led to the term.
    """
    phi, nodes, where, table, pages = opened(reals, wholes)
    if full(wholes, where, nodes, pages) or not in_reach(point, reals[STEP]):
        return False
    if not stands(phi, point):
        stand(phi, where, point, reals[STEP], wholes[0])
        find(where, table, pages)
    claim(wholes, where, table, pages)
    write(phi, where, nodes, wholes[1], weight, clock)
    return True


def near(reals: Any, wholes: Any, point: Any) -> float:
    """f at a point that is still to be divided by the roots; NaN if it is not healthy."""
    here = np.empty(len(point))
    if not scaled(point, reals[ROOTS:], here):
        return np.nan
    return reals[FADE] * value_at(reals, wholes, here)  # type: ignore[no-any-return]


def learn(reals: Any, wholes: Any, point: Any, decay: float, weight: float) -> bool:
    """One round with such a point, or False and nothing has changed: unhealthy, or no room."""
    here = np.empty(len(point))
    fade, clock = reals[FADE] * decay, reals[CLOCK] + reals[FADE]
    if not scaled(point, reals[ROOTS:], here):
        return False
    if not add_at(reals, wholes, here, weight * reals[WEIGHT] / fade, clock):
        return False
    reals[FADE], reals[CLOCK] = fade, clock
    reals[ROUNDS] += 1.0
    if fade < FAINT:
        fold_all(reals, wholes)
    return True


def fold_all(reals: Any, wholes: Any) -> None:
    """`fold`, for the arrays as Python holds them."""
    nodes = opened(reals, wholes)[1]
    fold(nodes, wholes[1] * TILE_SIZE, wholes[TILES], reals[FADE], reals[CLOCK])
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
    step, reach, layers = reals[STEP], wholes[0], wholes[1]
    phi, nodes, where, table, pages = opened(reals, wholes)
    fade, clock, constant, norm = scalars
    alpha, clip, radius, scale, peak, _ = rules
    breakpoints, losses, offsets = curves
    for t in range(len(points)):
        if full(wholes, where, nodes, pages) or not in_reach(points[t], step):
            return t, fade, clock, constant, norm
        stand(phi, where, points[t], step, reach)
        if not find(where, table, pages):
            claim(wholes, where, table, pages)
        value = fade * read(phi, where, nodes, layers)
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
        write(phi, where, nodes, layers, push * scale / fade, clock)
        if norm > radius * radius:
            fade *= to_ball(norm, radius)
            norm = radius * radius
    return len(points), fade, clock, constant, norm
