"""Exact expansions of many streams in one pool: a stream's terms are a chain of small chunks.

Row by row this is `exact.ExactExpansion`, used online: the same terms in the same lanes, summed in
the same order, so that a stream of a panel is to the bit what it would be alone. A `store` is

    terms      (chunks, CHUNK, d + 3): a term is its point, weight, joined and folded
    following  (chunks,): the chunk that comes after
    wholes     (rows, 6): where the row's chains are, and its counts
    fading     (rows, 2): fade and clock
    room       (2,): chunks handed out so far, and the first of those that came back
"""

from typing import Any

from localarc.engine.exact.loops import FAINT, NEGLIGIBLE
from localarc.engine.numba_tools import jit, literal
from localarc.engine.rounds import clipped, loss_at, total
from localarc.engine.running_constants import CONSTANT, step
from localarc.engine.tiles import TILE, gather

CHUNK = 8  # terms to a chunk; TILE is a multiple of it
HEAD, LIVE, TAIL, FIRST, COUNT, ROUNDS = range(6)
FADE, CLOCK = range(2)
HANDED_OUT, FREE = range(2)


@jit
def at(following: Any, chunk: int, steps: int) -> int:
    """The chunk so many steps down the chain."""
    for _ in range(steps):
        chunk = following[chunk]
    return chunk


@jit
def chunk_for(store: Any) -> int:
    """A chunk that nobody uses; there must be one."""
    _, following, _, _, room = store
    chunk = room[FREE]
    if chunk >= 0:
        room[FREE] = following[chunk]
    else:
        chunk = room[HANDED_OUT]
        room[HANDED_OUT] += 1
    return chunk  # type: ignore[no-any-return]


@jit
def give_back(store: Any, first: int, last: int) -> None:
    """A part of a chain becomes free."""
    _, following, _, _, room = store
    following[last] = room[FREE]
    room[FREE] = first


@jit
def fold(store: Any, row: int, fade: float, clock: float) -> None:
    """Let the fade restart at 1 and the clock at 0, with nothing changed in f or its average."""
    terms, following, wholes, _, _ = store
    chunk = wholes[row, LIVE]
    for i in range(wholes[row, FIRST] // TILE * TILE, wholes[row, COUNT]):
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
    """The oldest term leaves f; what it has given to the average stays."""
    terms, following, wholes, _, _ = store
    first = wholes[row, FIRST]
    term = terms[at(following, wholes[row, LIVE], first % TILE // CHUNK), first % CHUNK]
    d = len(term) - 3
    term[d + 2] += term[d] * (clock - term[d + 1])
    term[d] = 0.0
    wholes[row, FIRST] += 1


@literal
def age(fading: Any, decay: float) -> None:
    """f joins the average, and shrinks."""
    fading[CLOCK] += fading[FADE]
    fading[FADE] *= decay


@literal
def lifted(weight: float, scale: float, fade: float) -> float:
    """The weight of a new term, before the fade."""
    return weight * scale / fade


@literal
def answered(constant: float, fade: float, value: float, clip: float) -> float:
    """The threshold."""
    return constant + clipped(fade * value, clip)


@literal
def pushed(rate: float, loss: float, alpha: float) -> float:
    """By how much a loss moves the threshold."""
    return rate * (loss - alpha)


@jit
def append(store: Any, row: int, point: Any, weight: float, clock: float) -> None:
    """A new term joins at the end of the chain."""
    terms, following, wholes, _, _ = store
    count = wholes[row, COUNT]
    if count % CHUNK == 0:
        chunk = chunk_for(store)
        if count == 0:
            wholes[row, HEAD] = wholes[row, LIVE] = chunk
        else:
            following[wholes[row, TAIL]] = chunk
        wholes[row, TAIL] = chunk
    term = terms[wholes[row, TAIL], count % CHUNK]
    d = len(point)
    for k in range(d):
        term[k] = point[k]
    term[d], term[d + 1], term[d + 2] = weight, clock, 0.0
    wholes[row, COUNT] += 1


@jit
def leave_tile(store: Any, row: int, archive: bool) -> None:
    """A whole tile of terms has left the window: start behind it, and forget it if not archived."""
    following, wholes = store[1], store[2]
    first = wholes[row, LIVE]
    last = at(following, first, TILE // CHUNK - 1)
    wholes[row, LIVE] = following[last]
    if not archive:
        wholes[row, HEAD] = wholes[row, LIVE]
        wholes[row, FIRST] -= TILE
        wholes[row, COUNT] -= TILE
        give_back(store, first, last)


@jit
def learn_one(store: Any, row: int, point: Any, decay: float, push: float, rules: Any) -> None:
    """One round of a row: f joins the average, shrinks, and gains a term."""
    scale, window, archive = rules
    wholes, fading = store[2], store[3][row]
    age(fading, decay)
    wholes[row, ROUNDS] += 1
    if fading[FADE] < FAINT:
        fold(store, row, fading[FADE], fading[CLOCK])
        fading[FADE], fading[CLOCK] = 1.0, 0.0
    left = wholes[row, COUNT] - wholes[row, FIRST] == window
    if left:
        retire(store, row, fading[CLOCK])
    append(store, row, point, lifted(push, scale, fading[FADE]), fading[CLOCK])
    if left and wholes[row, FIRST] % TILE == 0:
        leave_tile(store, row, archive)


def learn(
    store: Any, rows: Any, points: Any, decays: Any, pushes: Any, rules: tuple[float, int, bool]
) -> None:
    """Events whose losses are known, in order."""
    for i in range(len(rows)):
        learn_one(store, rows[i], points[i], decays[i], pushes[i], rules)


def value_of(store: Any, row: int, point: Any, parameter: float, scratch: Any) -> float:
    """sum_i weights_i k(x_i, point) over the terms of a row, tile by tile."""
    terms, following, wholes, _, _ = store
    tile, weights, lanes = scratch
    lanes[:] = 0.0
    d = len(point)
    column = point.reshape((d, 1))
    count = wholes[row, COUNT]
    chunk = wholes[row, LIVE]
    for i in range(wholes[row, FIRST] // TILE * TILE, count):
        lane = i % TILE
        term = terms[chunk, i % CHUNK]
        for k in range(d):
            tile[k, lane] = term[k]
        weights[lane] = term[d]
        if i % CHUNK == CHUNK - 1:
            chunk = following[chunk]
        if lane == TILE - 1 or i == count - 1:
            weights[lane + 1 :] = 0.0  # what other rows left in the tile weighs nothing
            gather(tile, weights, column, 0, parameter, lanes)
    return total(lanes)


def evaluate(
    store: Any, rows: Any, points: Any, parameter: float, clip: float, scratch: Any, values: Any
) -> None:
    """f, clipped, at each point, for the row it belongs to; 0 for a row of -1."""
    for i in range(len(rows)):
        values[i] = 0.0
        if rows[i] >= 0:
            value = value_of(store, rows[i], points[i], parameter, scratch)
            values[i] = answered(0.0, store[3][rows[i], FADE], value, clip)


def play(
    traces: Any,
    store: Any,
    rows: Any,
    points: Any,
    rates: Any,
    decays: Any,
    numbers: tuple[float, float, float],
    rules: tuple[float, int, bool],
    curves: Any,
    scratch: Any,
    thresholds: Any,
    incurred: Any,
) -> None:
    """Threshold, loss and update for each event, in order."""
    alpha, clip, parameter = numbers
    breakpoints, losses, offsets = curves
    for i in range(len(rows)):
        row = rows[i]
        value = value_of(store, row, points[i], parameter, scratch)
        thresholds[i] = answered(traces[row, CONSTANT], store[3][row, FADE], value, clip)
        incurred[i] = loss_at(breakpoints, losses, offsets[i], offsets[i + 1], thresholds[i])
        push = pushed(rates[i], incurred[i], alpha)
        learn_one(store, row, points[i], decays[i], push, rules)
        step(traces[row], rates[i], incurred[i], alpha)


@jit
def chain(store: Any, row: int, size: int, values: Any, into: bool) -> None:
    """Copy the terms of a row to `values` (size, d + 3), or make its chain out of them."""
    terms, following, wholes, _, _ = store
    chunk = wholes[row, HEAD]
    for i in range(size):
        if into:
            if i % CHUNK == 0:
                fresh = chunk_for(store)
                if i == 0:
                    wholes[row, HEAD] = fresh
                else:
                    following[chunk] = fresh
                chunk = fresh
            terms[chunk, i % CHUNK] = values[i]
        else:
            values[i] = terms[chunk, i % CHUNK]
            if i % CHUNK == CHUNK - 1:
                chunk = following[chunk]
    if into and size > 0:
        wholes[row, TAIL] = chunk
        wholes[row, LIVE] = at(
            following, wholes[row, HEAD], wholes[row, FIRST] // TILE * (TILE // CHUNK)
        )


def unload(store: Any, rows: Any, starts: Any, values: Any) -> None:
    """values[starts[i]:starts[i + 1]] are the terms of rows[i]."""
    for i in range(len(rows)):
        size = starts[i + 1] - starts[i]
        chain(store, rows[i], size, values[starts[i] : starts[i + 1]], False)


def load(store: Any, rows: Any, starts: Any, values: Any) -> None:
    """The inverse of `unload`, for rows that have no chain; their counts are there already."""
    for i in range(len(rows)):
        size = starts[i + 1] - starts[i]
        chain(store, rows[i], size, values[starts[i] : starts[i + 1]], True)


def clear(store: Any, row: int) -> None:
    """A row without terms; its chunks become free."""
    wholes = store[2]
    if wholes[row, COUNT] > 0:
        give_back(store, wholes[row, HEAD], wholes[row, TAIL])
    wholes[row] = 0
    store[3][row, FADE], store[3][row, CLOCK] = 1.0, 0.0
