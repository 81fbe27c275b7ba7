"""The layout of a lattice: the nodes near a point, and the tiles that hold them.

Nodes are stored in tiles of 8 x 8 (8 x 8 x 8 in three dimensions), tiles are listed in pages of 8
per side, and pages are found by hash: an outlier costs a page and a few tiles, not a dense box. In
fewer than three dimensions, the absent ones come first and the point lies on their node 0. Tile 0
and page 0 stay empty: what was never visited reads as 0.

Everything is in two arrays, because each array that Python passes costs a tenth of a step.
`floats` is [numbers, weights, spot, nodes], `integers` is [sizes, where, table, pages]:

- weights are phi at the nodes of each of the three dimensions, spot is the point they belong to; a
  gap before them aligns all rows of eight with the processor's cache lines;
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
from localarc.engine.simd import SIDE, view

TILE_SIZE = SIDE * SIDE  # in one plane
MAX_STEPS = 2.0**40  # a float64 beyond has too few digits for a position between nodes
KEY, IDS = 3, 9  # where the tile ids of a page, and of `where`, begin
# The first numbers of `integers`, and of `floats`, before the parts.
REACH, LAYERS, START, LANES, PLACES, SLOTS, PAGE, PAGES, TILES, SIZES = range(10)
STEP, FADE, CLOCK, ROUNDS, WEIGHT, ROOTS, HERE, NUMBERS = 0, 1, 2, 3, 4, 5, 8, 16


def max_tiles(reach: int) -> int:
    """The largest number of tiles that 2 * reach nodes in a row can touch."""
    return (2 * reach - 2) // SIDE + 2


def lay_out(
    floats: Any, integers: Any, rule: Rule, dimensions: int, pages: int, tiles: int
) -> None:
    """Make the two arrays an empty lattice with room for this many pages and tiles."""
    layers = SIDE if dimensions == 3 else 1
    page = KEY + layers * SIDE * SIDE
    spans = max_tiles(rule.reach)
    lanes, places = SIDE * spans, IDS + spans**dimensions
    slots = slots_for(pages)
    integers.resize(SIZES + places + slots + pages * page, refcheck=False)
    floats.resize(NUMBERS + SIDE + 4 * lanes + tiles * 2 * layers * TILE_SIZE, refcheck=False)
    floats[:], integers[:] = 0.0, 0
    integers[:SIZES] = rule.reach, layers, aligned_start(floats), lanes, places, slots, page, 1, 1
    floats[STEP] = rule.step
    weights, spot, nodes, _, _, _ = edges(floats, integers)
    for absent in range(3 - dimensions):
        floats[weights + absent * lanes] = 1.0
        integers[SIZES + 6 + absent] = 1
    floats[spot:nodes] = np.inf  # no point is located yet


def slots_for(pages: int) -> int:
    """The size of the table: at most a quarter full, for short probes."""
    return 1 << (4 * pages - 1).bit_length()


def aligned_start(floats: Any) -> int:
    """Where the parts of `floats` begin, so that rows of eight are aligned."""
    return NUMBERS + -(floats.ctypes.data // floats.itemsize) % SIDE  # type: ignore[no-any-return]


def edges(floats: Any, integers: Any) -> tuple[int, ...]:
    """The offsets of weights, spot, nodes and their end; of table and pages."""
    start, lanes = integers[START], integers[LANES]
    spare = NUMBERS + SIDE - start  # the alignment gap, which is at the end
    table = SIZES + integers[PLACES]
    lattice = start, start + 3 * lanes, start + 4 * lanes, len(floats) - spare
    return *lattice, table, table + integers[SLOTS]


_edges = jit(edges)


@jit
def unpack(floats: Any, integers: Any) -> Any:
    """(weights, spot, nodes, where, table, pages): the parts of the two arrays."""
    weights, spot, nodes, end, table, pages = _edges(floats, integers)
    return (
        view(floats, weights, spot),
        view(floats, spot, nodes),
        view(floats, nodes, end),
        view(integers, SIZES, table),
        view(integers, table, pages),
        view(integers, pages, len(integers)),
    )


@jit
def is_in_reach(point: Any, step: float) -> bool:
    """Whether a float64 resolves the point's position between nodes."""
    for k in range(len(point)):  # noqa: SIM110 (compiled: no generators)
        if not abs(point[k]) < MAX_STEPS * step:
            return False
    return True


@jit
def is_located(spot: Any, point: Any) -> bool:
    """Whether this point's location is the one stored."""
    for k in range(len(point)):  # noqa: SIM110
        if spot[k] != point[k]:
            return False
    return True


@jit
def locate(weights: Any, spot: Any, where: Any, point: Any, step: float, reach: int) -> None:
    """Store the nodes and weights of a point; `find_tiles` then looks up the tiles."""
    lanes = len(spot)
    absent = 3 - len(point)
    for k in range(absent, 3):
        x = point[k - absent]
        spot[k - absent] = x
        first = math.floor(x / step) - reach + 1
        start = first & (SIDE - 1)
        where[k], where[3 + k], where[6 + k] = first >> 3, start, start + 2 * reach
        gap = x - (first - start) * step  # the step is a short binary number: no rounding here
        line = view(weights, k * lanes, (k + 1) * lanes)
        for j in range(SIDE * across(where, k)):
            away = gap - j * step
            near = exp_minus(2.0 * away * away)
            line[j] = near if start <= j < start + 2 * reach else 0.0


@jit
def across(where: Any, k: int) -> int:
    """How many tiles the location touches in dimension k."""
    return (where[6 + k] + SIDE - 1) >> 3  # type: ignore[no-any-return]


@jit
def slot(table: Any, pages: Any, a: int, b: int, c: int) -> int:
    """The slot of page (a, b, c) in the table, or the empty slot for it."""
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
    """The offset of tile (a, b, c) in its page."""
    return KEY + (((a & 7) * SIDE) + (b & 7)) * SIDE + (c & 7)


@jit
def find_tiles(where: Any, table: Any, pages: Any) -> bool:
    """Look up the ids of the tiles touched, 0 for missing ones; whether none is missing."""
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
def is_full(integers: Any, where: Any, nodes: Any, pages: Any) -> bool:
    """Whether the next point could require more room than there is."""
    tiles = integers[TILES] + len(where) - IDS
    too_many = tiles * 2 * integers[LAYERS] * TILE_SIZE > len(nodes)
    return bool(too_many or (integers[PAGES] + SIDE) * integers[PAGE] > len(pages))


@jit
def allocate_tiles(integers: Any, where: Any, table: Any, pages: Any) -> None:
    """Add the tiles that `find_tiles` did not find."""
    n = IDS
    for a in range(where[0], where[0] + across(where, 0)):
        for b in range(where[1], where[1] + across(where, 1)):
            for c in range(where[2], where[2] + across(where, 2)):
                if where[n] == 0:
                    listed = find_or_add_page(
                        integers, table, pages, a >> 3, b >> 3, c >> 3
                    ) + cell(a, b, c)
                    if pages[listed] == 0:
                        pages[listed] = integers[TILES]
                        integers[TILES] += 1
                    where[n] = pages[listed]
                n += 1


@jit
def find_or_add_page(integers: Any, table: Any, pages: Any, a: int, b: int, c: int) -> int:
    """The offset of page (a, b, c), which is added if it is missing."""
    at = slot(table, pages, a, b, c)
    if table[at] == 0:
        page = integers[PAGES] * integers[PAGE]
        table[at] = page
        pages[page], pages[page + 1], pages[page + 2] = a, b, c
        integers[PAGES] += 1
    return table[at]  # type: ignore[no-any-return]


@jit
def index_pages(floats: Any, integers: Any) -> None:
    """Fill an empty table with the existing pages."""
    _, _, _, _, table, pages = unpack(floats, integers)
    for page in range(integers[PAGE], integers[PAGES] * integers[PAGE], integers[PAGE]):
        table[slot(table, pages, pages[page], pages[page + 1], pages[page + 2])] = page


def realign(floats: Any, integers: Any, start: int) -> None:
    """Move the parts of `floats`, which was resized, to where rows of eight are aligned."""
    weights, _, _, end, _, _ = _edges(floats, integers)
    moved = floats[weights:end].copy()
    floats[start : start + len(moved)] = moved
    floats[start + len(moved) :] = 0.0  # becomes nodes, which start at 0, when the array grows
    integers[START] = start


def rehash(floats: Any, integers: Any, slots: int) -> None:
    """Give the table another size, in `integers` that was resized to have room for it."""
    _, _, _, _, table, pages = _edges(floats, integers)
    moved = integers[pages : pages + integers[PAGES] * integers[PAGE]].copy()
    integers[table:] = 0
    integers[SLOTS] = slots
    integers[table + slots : table + slots + len(moved)] = moved
    index_pages(floats, integers)
