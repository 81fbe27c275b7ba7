"""Where a point stands on the lattice: the nodes it feels, and the tiles that hold them.

Nodes live in tiles of 8 x 8 (8 x 8 x 8 in three dimensions), tiles are listed in pages of 8 to
a side, and pages are found by hash: an outlier costs a page and a few tiles, not a box. In fewer
than three dimensions, the absent ones come first and the point stands on their node 0. Tile 0 and
page 0 are nowhere and stay empty: what was never visited reads as 0.

All of it lies in two arrays, because each array that Python hands over costs a tenth of a step.
`reals` is [numbers, weights, spot, nodes], `wholes` is [sizes, where, table, pages]:

- weights are phi at the nodes of each of the three dimensions, spot the point they belong to; a
  gap before them lets all rows of eight begin where a line of the processor's cache does;
- nodes holds the heights of a tile and then its offsets, tile by tile;
- where[:3] is the first tile that the point touches, where[3:6] its first node and where[6:9] the
  node after its last, both counted from that tile's first; where[9:] is the ids of the tiles;
- table finds by hash where a page begins, and a page is its key (3 numbers) and its tiles' ids.
"""

import math
from typing import Any

import numpy as np

from localarc.engine.exponential import exp_minus
from localarc.engine.lattice.quadrature import Rule
from localarc.engine.numba_tools import jit
from localarc.engine.simd import SIDE, part

TILE_SIZE = SIDE * SIDE  # in one plane
FARTHEST = 2.0**40  # in steps: beyond, a float64 has too few digits left for a place between nodes
KEY, IDS = 3, 9  # where a page's tile ids and a place's tile ids begin
# The first numbers of `wholes`, and of `reals`, before the parts.
REACH, LAYERS, START, LANES, PLACES, SLOTS, PAGE, PAGES, TILES, SIZES = range(10)
STEP, FADE, CLOCK, ROUNDS, WEIGHT, ROOTS, HERE, NUMBERS = 0, 1, 2, 3, 4, 5, 8, 16


def most_tiles(reach: int) -> int:
    """The most tiles that 2 * reach nodes in a row can touch."""
    return (2 * reach - 2) // SIDE + 2


def lay_out(reals: Any, wholes: Any, rule: Rule, dimensions: int, pages: int, tiles: int) -> None:
    """Make the two arrays an empty lattice with room for so many pages and tiles."""
    layers = SIDE if dimensions == 3 else 1
    page = KEY + layers * SIDE * SIDE
    spans = most_tiles(rule.reach)
    lanes, places = SIDE * spans, IDS + spans**dimensions
    slots = 1 << (4 * pages - 1).bit_length()  # at most a quarter full: short probes
    wholes.resize(SIZES + places + slots + pages * page, refcheck=False)
    reals.resize(NUMBERS + SIDE + 4 * lanes + tiles * 2 * layers * TILE_SIZE, refcheck=False)
    reals[:], wholes[:] = 0.0, 0
    start = NUMBERS + -(reals.ctypes.data // reals.itemsize) % SIDE
    wholes[:SIZES] = rule.reach, layers, start, lanes, places, slots, page, 1, 1
    reals[STEP] = rule.step
    weights, spot, nodes, _, _, _ = edges(reals, wholes)
    for absent in range(3 - dimensions):
        reals[weights + absent * lanes] = 1.0
        wholes[SIZES + 6 + absent] = 1
    reals[spot:nodes] = np.inf  # nobody stands here yet


def edges(reals: Any, wholes: Any) -> tuple[int, ...]:
    """Where the parts begin: weights, spot, nodes and what is behind them; table and pages."""
    start, lanes = wholes[START], wholes[LANES]
    spare = NUMBERS + SIDE - start  # what was held for the start, and lies at the end
    table = SIZES + wholes[PLACES]
    lattice = start, start + 3 * lanes, start + 4 * lanes, len(reals) - spare
    return *lattice, table, table + wholes[SLOTS]


_edges = jit(edges)


@jit
def opened(reals: Any, wholes: Any) -> Any:
    """(weights, spot, nodes, where, table, pages): the parts of the two arrays."""
    weights, spot, nodes, end, table, pages = _edges(reals, wholes)
    return (
        part(reals, weights, spot),
        part(reals, spot, nodes),
        part(reals, nodes, end),
        part(wholes, SIZES, table),
        part(wholes, table, pages),
        part(wholes, pages, len(wholes)),
    )


@jit
def in_reach(point: Any, step: float) -> bool:
    """Whether a float64 still tells where the point is between nodes."""
    for k in range(len(point)):  # noqa: SIM110 (compiled: no generators)
        if not abs(point[k]) < FARTHEST * step:
            return False
    return True


@jit
def stands(spot: Any, point: Any) -> bool:
    """Whether the place is this point's."""
    for k in range(len(point)):  # noqa: SIM110
        if spot[k] != point[k]:
            return False
    return True


@jit
def stand(weights: Any, spot: Any, where: Any, point: Any, step: float, reach: int) -> None:
    """Put a point in its place; `find` or `claim` then look up the tiles."""
    lanes = len(spot)
    absent = 3 - len(point)
    for k in range(absent, 3):
        x = point[k - absent]
        spot[k - absent] = x
        first = math.floor(x / step) - reach + 1
        start = first & (SIDE - 1)
        where[k], where[3 + k], where[6 + k] = first >> 3, start, start + 2 * reach
        gap = x - (first - start) * step  # the step is a short binary number: no rounding here
        line = part(weights, k * lanes, (k + 1) * lanes)
        for j in range(SIDE * across(where, k)):
            away = gap - j * step
            near = exp_minus(2.0 * away * away)
            line[j] = near if start <= j < start + 2 * reach else 0.0


@jit
def across(where: Any, k: int) -> int:
    """How many tiles the place touches in dimension k."""
    return (where[6 + k] + SIDE - 1) >> 3  # type: ignore[no-any-return]


@jit
def slot(table: Any, pages: Any, a: int, b: int, c: int) -> int:
    """Where the page (a, b, c) is in the table, or the empty slot where it would go."""
    mask = len(table) - 1
    mixed = a * 0x5BD1E995 + b * 0x2545F491 + c * 0x9E3779B1
    at = (mixed ^ (mixed >> 17)) & mask
    while table[at] > 0:
        page = table[at]
        if pages[page] == a and pages[page + 1] == b and pages[page + 2] == c:
            break
        at = (at + 1) & mask
    return at


@jit
def cell(a: int, b: int, c: int) -> int:
    """Where a page lists the tile (a, b, c)."""
    return KEY + (((a & 7) * SIDE) + (b & 7)) * SIDE + (c & 7)


@jit
def find(where: Any, table: Any, pages: Any) -> bool:
    """The ids of the tiles that the place touches, 0 for those that do not exist: are they all?"""
    n, near, far = IDS, 0, 0
    complete = True
    first, last = where[2], where[2] + across(where, 2)
    edge = (first | 7) + 1  # where the next page begins
    for a in range(where[0], where[0] + across(where, 0)):
        for b in range(where[1], where[1] + across(where, 1)):
            if b == where[1] or b & 7 == 0:
                near = table[slot(table, pages, a >> 3, b >> 3, first >> 3)]
                far = table[slot(table, pages, a >> 3, b >> 3, edge >> 3)] if last > edge else 0
            for c in range(first, last):
                tile = pages[(near if c < edge else far) + cell(a, b, c)]
                complete = complete and tile > 0
                where[n] = tile
                n += 1
    return complete


@jit
def full(wholes: Any, where: Any, nodes: Any, pages: Any) -> bool:
    """Whether the next point could touch more than there is room for."""
    tiles = wholes[TILES] + len(where) - IDS
    too_many = tiles * 2 * wholes[LAYERS] * TILE_SIZE > len(nodes)
    return bool(too_many or (wholes[PAGES] + SIDE) * wholes[PAGE] > len(pages))


@jit
def claim(wholes: Any, where: Any, table: Any, pages: Any) -> None:
    """Make the tiles that `find` did not find."""
    n = IDS
    for a in range(where[0], where[0] + across(where, 0)):
        for b in range(where[1], where[1] + across(where, 1)):
            for c in range(where[2], where[2] + across(where, 2)):
                if where[n] == 0:
                    listed = page_of(wholes, table, pages, a >> 3, b >> 3, c >> 3) + cell(a, b, c)
                    if pages[listed] == 0:
                        pages[listed] = wholes[TILES]
                        wholes[TILES] += 1
                    where[n] = pages[listed]
                n += 1


@jit
def page_of(wholes: Any, table: Any, pages: Any, a: int, b: int, c: int) -> int:
    """Where the page (a, b, c) begins, made if it is not there."""
    at = slot(table, pages, a, b, c)
    if table[at] == 0:
        page = wholes[PAGES] * wholes[PAGE]
        table[at] = page
        pages[page], pages[page + 1], pages[page + 2] = a, b, c
        wholes[PAGES] += 1
    return table[at]  # type: ignore[no-any-return]


def list_pages(reals: Any, wholes: Any) -> None:
    """Fill an empty table with the pages there are."""
    _, _, _, _, table, pages = opened(reals, wholes)
    for page in range(wholes[PAGE], wholes[PAGES] * wholes[PAGE], wholes[PAGE]):
        table[slot(table, pages, pages[page], pages[page + 1], pages[page + 2])] = page
