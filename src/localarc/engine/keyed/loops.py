"""Exact expansions of many streams in one pool: a stream's terms are a linked list of chunks.

Row by row this is `exact.ExactExpansion`, used online: the same terms in the same lanes, summed in
the same order, so that a stream of a panel is bit for bit what it would be alone. A `store` is

    terms      (chunks, CHUNK, d + 3): a term is its point, weight, joined and folded
    following  (chunks,): the next chunk of the list
    integers     (rows, 6): the row's first, first live and last chunk, and its counts
    fading     (rows, 2): fade and clock
    room       (2,): chunks allocated so far, and the first of the free list
"""

from typing import Any

from localarc.engine.keyed.late import AFTER, ASK, LEARN
from localarc.engine.numba_tools import jit, strict_jit
from localarc.engine.running_constants import CONSTANT, step, watch
from localarc.engine.step import MIN_FADE, NEGLIGIBLE, clip_value, loss_at, sum_by_halves
from localarc.engine.tiles import TILE, add_kernel_row

CHUNK = 8  # terms per chunk; TILE is a multiple of it
HEAD, LIVE, TAIL, FIRST, COUNT, ROUNDS = range(6)
FADE, CLOCK = range(2)
HANDED_OUT, FREE = range(2)


@jit
def follow_chain(following: Any, chunk: int, steps: int) -> int:
    """The chunk that many steps further down the list."""
    for _ in range(steps):
        chunk = following[chunk]
    return chunk


@jit
def allocate_chunk(store: Any) -> int:
    """Take a chunk from the free list or the end of the pool; there must be one."""
    _, following, _, _, room = store
    chunk = room[FREE]
    if chunk >= 0:
        room[FREE] = following[chunk]
    else:
        chunk = room[HANDED_OUT]
        room[HANDED_OUT] += 1
    return chunk  # type: ignore[no-any-return]


@jit
def free_chunks(store: Any, first: int, last: int) -> None:
    """Put part of a list on the free list."""
    _, following, _, _, room = store
    following[last] = room[FREE]
    room[FREE] = first


@jit
def fold(store: Any, row: int, fade: float, clock: float) -> None:
    """Reset the fade to 1 and the clock to 0, without changing f or its average."""
    terms, following, integers, _, _ = store
    chunk = integers[row, LIVE]
    for i in range(integers[row, FIRST] // TILE * TILE, integers[row, COUNT]):
        term = terms[chunk, i % CHUNK]
        d = len(term) - 3
        term[d + 2] += term[d] * (clock - term[d + 1])
        term[d + 1] = 0.0
        faded = term[d] * fade
        term[d] = faded if abs(faded) > NEGLIGIBLE else 0.0
        if i % CHUNK == CHUNK - 1:
            chunk = following[chunk]


@jit
def retire(store: Any, row: int, clock: float) -> None:
    """Remove the oldest term from f; its contribution to the average stays."""
    terms, following, integers, _, _ = store
    first = integers[row, FIRST]
    term = terms[follow_chain(following, integers[row, LIVE], first % TILE // CHUNK), first % CHUNK]
    d = len(term) - 3
    term[d + 2] += term[d] * (clock - term[d + 1])
    term[d] = 0.0
    integers[row, FIRST] += 1


@strict_jit
def accumulate_and_shrink(fading: Any, decay: float) -> None:
    """Add f to the average, and shrink it."""
    fading[CLOCK] += fading[FADE]
    fading[FADE] *= decay


@strict_jit
def unscaled_weight(weight: float, scale: float, fade: float) -> float:
    """The weight of a new term, before multiplication by the fade."""
    return weight * scale / fade


@strict_jit
def threshold(constant: float, fade: float, value: float, clip: float) -> float:
    """c plus the clipped f."""
    return constant + clip_value(fade * value, clip)


@strict_jit
def step_size(rate: float, loss: float, alpha: float) -> float:
    """The change of the threshold after a loss."""
    return rate * (loss - alpha)


@jit
def append(store: Any, row: int, point: Any, weight: float, clock: float) -> None:
    """Append a term to the end of the list."""
    terms, following, integers, _, _ = store
    count = integers[row, COUNT]
    if count % CHUNK == 0:
        chunk = allocate_chunk(store)
        if count == 0:
            integers[row, HEAD] = integers[row, LIVE] = chunk
        else:
            following[integers[row, TAIL]] = chunk
        integers[row, TAIL] = chunk
    term = terms[integers[row, TAIL], count % CHUNK]
    d = len(point)
    for k in range(d):
        term[k] = point[k]
    term[d], term[d + 1], term[d + 2] = weight, clock, 0.0
    integers[row, COUNT] += 1


@jit
def release_tile(store: Any, row: int, archive: bool) -> None:
    """A whole tile of terms has left the window: skip it, and free it unless it is archived."""
    following, integers = store[1], store[2]
    first = integers[row, LIVE]
    last = follow_chain(following, first, TILE // CHUNK - 1)
    integers[row, LIVE] = following[last]
    if not archive:
        integers[row, HEAD] = integers[row, LIVE]
        integers[row, FIRST] -= TILE
        integers[row, COUNT] -= TILE
        free_chunks(store, first, last)


@jit
def learn_one(store: Any, row: int, point: Any, decay: float, push: float, rules: Any) -> None:
    """One round of a row: f joins the average, shrinks, and gains a term."""
    scale, window, archive = rules
    integers, fading = store[2], store[3][row]
    accumulate_and_shrink(fading, decay)
    integers[row, ROUNDS] += 1
    if fading[FADE] < MIN_FADE:
        fold(store, row, fading[FADE], fading[CLOCK])
        fading[FADE], fading[CLOCK] = 1.0, 0.0
    left = integers[row, COUNT] - integers[row, FIRST] == window
    if left:
        retire(store, row, fading[CLOCK])
    append(store, row, point, unscaled_weight(push, scale, fading[FADE]), fading[CLOCK])
    if left and integers[row, FIRST] % TILE == 0:
        release_tile(store, row, archive)


def learn(
    store: Any, rows: Any, points: Any, decays: Any, pushes: Any, rules: tuple[float, int, bool]
) -> None:
    """Events whose losses are known, in order."""
    for i in range(len(rows)):
        learn_one(store, rows[i], points[i], decays[i], pushes[i], rules)


def value_of(store: Any, row: int, point: Any, parameter: float, scratch: Any) -> float:
    """sum_i weights_i k(x_i, point) over the terms of a row, tile by tile."""
    terms, following, integers, _, _ = store
    tile, weights, lanes = scratch
    lanes[:] = 0.0
    d = len(point)
    column = point.reshape((d, 1))
    count = integers[row, COUNT]
    chunk = integers[row, LIVE]
    for i in range(integers[row, FIRST] // TILE * TILE, count):
        lane = i % TILE
        term = terms[chunk, i % CHUNK]
        for k in range(d):
            tile[k, lane] = term[k]
        weights[lane] = term[d]
        if i % CHUNK == CHUNK - 1:
            chunk = following[chunk]
        if lane == TILE - 1 or i == count - 1:
            weights[lane + 1 :] = 0.0  # clear what other rows left in the tile
            add_kernel_row(tile, weights, column, 0, parameter, lanes)
    return sum_by_halves(lanes)


def evaluate(
    store: Any, rows: Any, points: Any, parameter: float, clip: float, scratch: Any, values: Any
) -> None:
    """f, clipped, at each point, for the row it belongs to; 0 for a row of -1."""
    for i in range(len(rows)):
        values[i] = 0.0
        if rows[i] >= 0:
            value = value_of(store, rows[i], points[i], parameter, scratch)
            values[i] = threshold(0.0, store[3][rows[i], FADE], value, clip)


def serve(
    running_constants: Any,
    store: Any,
    rows: Any,
    points: Any,
    acts: Any,
    asked: Any,
    rates: Any,
    decays: Any,
    numbers: tuple[float, float],
    rules: tuple[float, int, bool],
    limits: tuple[float, float, float, float],
    curves: Any,
    scratch: Any,
    results: Any,
) -> None:
    """Thresholds that go out and losses that come in, in order; `late` describes the arguments."""
    clip, parameter = numbers
    alpha, floor = limits[0], limits[1]
    breakpoints, losses, offsets = curves
    thresholds, incurred, after = results
    pending = len(thresholds) - len(rows)
    for i in range(len(rows)):
        row, here = rows[i], pending + i
        constants = running_constants[row]
        if acts[i] & ASK:
            value = value_of(store, row, points[here], parameter, scratch)
            thresholds[here] = threshold(constants[CONSTANT], store[3][row, FADE], value, clip)
        if acts[i] & LEARN:
            given = thresholds[asked[i]]
            incurred[i] = loss_at(breakpoints, losses, offsets[i], offsets[i + 1], given)
            push = step_size(rates[i], incurred[i], alpha)
            learn_one(store, row, points[asked[i]], decays[i], push, rules)
            step(constants, rates[i], incurred[i], alpha, floor)
            watch(constants, given, incurred[i], limits)
        if acts[i] & AFTER:
            value = value_of(store, row, points[here], parameter, scratch)
            after[i] = threshold(constants[CONSTANT], store[3][row, FADE], value, clip)


@jit
def copy_chain(store: Any, row: int, size: int, values: Any, into: bool) -> None:
    """Copy the terms of a row to `values` (size, d + 3), or build its list from them."""
    terms, following, integers, _, _ = store
    chunk = integers[row, HEAD]
    for i in range(size):
        if into:
            if i % CHUNK == 0:
                fresh = allocate_chunk(store)
                if i == 0:
                    integers[row, HEAD] = fresh
                else:
                    following[chunk] = fresh
                chunk = fresh
            terms[chunk, i % CHUNK] = values[i]
        else:
            values[i] = terms[chunk, i % CHUNK]
            if i % CHUNK == CHUNK - 1:
                chunk = following[chunk]
    if into and size > 0:
        integers[row, TAIL] = chunk
        integers[row, LIVE] = follow_chain(
            following, integers[row, HEAD], integers[row, FIRST] // TILE * (TILE // CHUNK)
        )


def unload(store: Any, rows: Any, starts: Any, values: Any) -> None:
    """values[starts[i]:starts[i + 1]] are the terms of rows[i]."""
    for i in range(len(rows)):
        size = starts[i + 1] - starts[i]
        copy_chain(store, rows[i], size, values[starts[i] : starts[i + 1]], False)


def load(store: Any, rows: Any, starts: Any, values: Any, counts: Any, fading: Any) -> None:
    """The inverse of `unload`, for rows without a list; `counts` has first, count and rounds."""
    for i in range(len(rows)):
        store[2][rows[i], FIRST : ROUNDS + 1] = counts[i]
        store[3][rows[i]] = fading[i]
        size = starts[i + 1] - starts[i]
        copy_chain(store, rows[i], size, values[starts[i] : starts[i + 1]], True)


def clear(store: Any, row: int) -> None:
    """Remove all terms of a row, and free its chunks."""
    integers = store[2]
    if integers[row, COUNT] > 0:
        free_chunks(store, integers[row, HEAD], integers[row, TAIL])
    integers[row] = 0
    store[3][row, FADE], store[3][row, CLOCK] = 1.0, 0.0
