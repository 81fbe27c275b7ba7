"""The memory map: named indices into the arrays that Python owns, and views of their sections.

`numbers` holds settings, running sums and scratch space, `integers` the sizes and the grid's salts,
`keys` and `nodes` the hash table of nodes. The last seven arrays are the ledger of pending rounds.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import carray, njit  # type: ignore[attr-defined]

from localarc.constants import INPUTS_KEPT, WARM
from localarc.engine.addresses import float_pointer, integer_pointer, short_pointer
from localarc.engine.numba_tools import STRICT_OPTIONS, Function

JOINT_PART, HAT_PART, NODE_PART = 0.4, 0.6, 0.8  # of the table: joint hats, all hats, everything

# ---- numbers: settings, then running sums ------------------------------------------------------
ALPHA, BOUND, TOP, FLOOR, CEILING, TWO_SIDED, DROP_UP, DROP_DOWN, RATE, OWN_BASE = range(10)
LOWEST, HIGHEST, MEAN, DEVIATION, UNIT, CLOCK, SCORES, LEAN, AWAY = range(10, 19)
ASKED, ISSUED, PENDING, MOST_PENDING, NODES, JOINTS, MEASURED = range(19, 26)
STAKED, GRANTED, UP_INVERSE, UP_BASE, PAID, LOST_UP, LOST_DOWN, SMALLEST_UNIT = range(26, 34)
ROUNDS, LOSS_SUM, COSTLIEST, CEILING_FAILS, CEILING_SINCE, FLOOR_FAILS, FLOOR_SINCE = range(34, 41)
REFUSED_HATS, REFUSED_GROUPS, EVICTED_HATS, EVICTED_GROUPS, SWEPT = range(41, 46)
UNINFORMED, UNINFORMED_LOSSES = range(46, 48)  # rounds asked before anything was known; in ROUNDS
START, PLANNED, PLANNED_JOINTS = -3, -2, -1  # not stored: a setting; nodes that a peek would add
SETTINGS = 10  # the first of them never change
FIRST = 48  # the first scores
GRID = FIRST + WARM  # by feature: origin, width, exponent

# ---- integers ----------------------------------------------------------------------------------
DIMENSIONS, WIDTH, PEEKED = range(3)  # PEEKED: row 0 holds a threshold that is still valid
SALTS = 3

# ---- a node ------------------------------------------------------------------------------------
# The last four columns of a joint hat describe the scores around it. Nodes with a bet on too few
# losses, the constant and the groups, keep that bet there instead.
OFFSET, VISITS, EXCESS, WEIGHT_PENDING, MOST_WEIGHT, LAST_ASKED, NEWEST = range(7)
UP_GAIN, UP_COST, UP_BET = range(7, 10)
SCORE_WEIGHT, SCORE_MEAN, SCORE_DEVIATION, SCORE_CLOCK = range(10, 14)
DOWN_GAIN, DOWN_COST, DOWN_BET = SCORE_WEIGHT, SCORE_MEAN, SCORE_DEVIATION
COLUMNS = 14
NO_NODE, TO_BE_MADE = -1, -2  # in place of a slot; `ask` would make the latter

# ---- a round: its ticket, and by node what was pending there and has arrived since ---------------
NUMBER, BASE, ITS_UNIT, ITS_FLOOR, UP_SHARE, DOWN_SHARE, THRESHOLD = range(7)
SCORES_KNOWN, GIVEN, PENDING_BEFORE = range(7, 10)
LOCAL_MEAN, FREE_BASE = range(10, 12)  # scratch, of row 0
TICKET = 12
SEEN, ARRIVED, UP_SUM, UP_SPENT, DOWN_SUM, DOWN_SPENT = range(6)
TOTALS = 5  # ARRIVED to DOWN_SPENT
LATE = SEEN + 1 + TOTALS

# ---- an entry: a pending round at one of its nodes -----------------------------------------------
# Its place in the tree of the node's rounds, and the next entry of its own round. Entry 0 is no
# round; it counts entries, with the first that was given back and the first that was never used.
SLOT, COLUMN, PARENT, LEFT, RIGHT, CHAINED = range(6)
FREE, UNUSED, USED = range(3)
LINKS = 6
ISSUE, WEIGHT = range(2)  # the number of its ticket; then SEEN, and the sums of `arrivals`
SUMS = 3
ENTRY = SUMS + TOTALS
ENTRY_BYTES = 4 * LINKS + 8 * ENTRY


# Python calls none of these: wrappers for it would take most of the time to compile.
INNER_OPTIONS = {**STRICT_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def jit(function: Function) -> Function:
    """Compile a part of the loops: operations round as in Python, so that all loops agree."""
    return njit(function, **INNER_OPTIONS)  # type: ignore[no-any-return]


def inlined(function: Function) -> Function:
    """`jit` for what a loop calls for every node: passing arrays to a call would cost more."""
    return njit(function, inline="always", **INNER_OPTIONS)  # type: ignore[no-any-return]


def hot(function: Function) -> Function:
    """`jit` for what is called for every node, and is always compiled into its caller."""
    return njit(function, forceinline=True, **INNER_OPTIONS)  # type: ignore[no-any-return]


# Numba compiles a function again for each literal that it is called with; not for these.


@jit
def variable(number: int) -> int:
    """A constant that is no literal."""
    return np.int64(number)  # type: ignore[return-value]


@jit
def always() -> bool:
    """True, but no literal."""
    return np.int64(1) > 0  # type: ignore[return-value]


class State(NamedTuple):
    """Everything that is known, except of pending rounds. Functions below return its sections."""

    numbers: Any
    integers: Any
    keys: Any  # of the nodes, 0 where a slot is free
    nodes: Any  # by slot; the last row is the constant


class Round(NamedTuple):
    """The scratch row: the nodes of a round, their weights, and its ticket."""

    slots: Any  # (width,): -1 where there is no node
    weights: Any
    late: Any  # (width, LATE)
    ticket: Any


class Ledger(NamedTuple):
    """The scratch row, with ticket 0, and the pending rounds."""

    slots: Any  # (width,)
    weights: Any
    late: Any  # (width, LATE)
    tickets: Any  # (rows, TICKET)
    chains: Any  # (rows,): the first entry of each ticket, 0 if it has none
    links: Any  # (entries, LINKS)
    sums: Any  # (entries, ENTRY)


def hat_columns(dimensions: int) -> int:
    """The hats of one level: d + 1 joint ones and, for d > 1, two for each feature."""
    return 3 * dimensions + 1 if dimensions > 1 else 2 * dimensions


def lasting(dimensions: int) -> int:
    """The length of what is stored of `numbers`; factors and scratch space follow."""
    return GRID + (3 + INPUTS_KEPT) * dimensions


def numbers_length(dimensions: int, width: int) -> int:
    """The length of `numbers`."""
    return lasting(dimensions) + 2 * dimensions + 14 * width + dimensions + 3


def integers_length(dimensions: int, groups: int) -> int:
    """The length of `integers`."""
    return SALTS + 3 * dimensions + groups


def risk(numbers: Any) -> float:
    """The mean loss of the rounds that the promise is about, NaN before the first."""
    rounds = float(numbers[ROUNDS] - numbers[UNINFORMED])
    return float(numbers[LOSS_SUM] - numbers[UNINFORMED_LOSSES]) / rounds if rounds else np.nan


hats_of_level = jit(hat_columns)


@jit
def section(numbers: Any, start: int, rows: int, columns: int) -> Any:
    """(rows, columns) of `numbers` from `start` on; `reshape` would take long to compile."""
    return carray(float_pointer(numbers.ctypes.data + 8 * start), (rows, columns))


@jit
def dimensions_of(state: State) -> int:
    """The number of features."""
    return state.integers[DIMENSIONS]  # type: ignore[no-any-return]


@jit
def grid_of(state: State) -> Any:
    """(3, d): origin, width and exponent of each feature's grid."""
    d = dimensions_of(state)
    return section(state.numbers, GRID, 3, d)


@jit
def reservoir_of(state: State) -> Any:
    """(INPUTS_KEPT, d): inputs, from which the grid is measured."""
    d = dimensions_of(state)
    return section(state.numbers, GRID + 3 * d, INPUTS_KEPT, d)


@jit
def columns_start(state: State) -> int:
    """Where numbers by column begin: 14 of them, how fast a node learns, then scratch space."""
    return GRID + (5 + INPUTS_KEPT) * dimensions_of(state)


@jit
def factors_of(state: State) -> Any:
    """(width,): how fast the node in a column learns."""
    start = columns_start(state)
    return state.numbers[start : start + state.integers[WIDTH]]


@jit
def faded_of(state: State) -> Any:
    """(width,) scratch: the weights of the scores around the nodes, as of now."""
    start, width = columns_start(state), state.integers[WIDTH]
    return state.numbers[start + width : start + 2 * width]


@jit
def bets_of(state: State) -> Any:
    """(6, 2 width) scratch: what `wealths` reads and writes."""
    start, width = columns_start(state), state.integers[WIDTH]
    return section(state.numbers, start + 2 * width, 6, 2 * width)


@jit
def input_of(state: State) -> Any:
    """(d,) scratch: the input of the round."""
    d = dimensions_of(state)
    start = GRID + (4 + INPUTS_KEPT) * d
    return state.numbers[start : start + d]


@jit
def positions_of(state: State) -> Any:
    """(d,) scratch: the input, in cells of a level."""
    end = len(state.numbers) - 3
    return state.numbers[end - dimensions_of(state) : end]


@jit
def group_keys_of(state: State) -> Any:
    """Scratch: the keys of the round's groups, 0 for none."""
    return state.integers[SALTS + 3 * dimensions_of(state) :]


@jit
def place_of(state: State) -> Any:
    """Where an input lies: fractions, cells and order of its features; and their salts."""
    d = dimensions_of(state)
    start = GRID + (3 + INPUTS_KEPT) * d
    integers = state.integers
    return (
        state.numbers[start : start + d],
        integers[SALTS + d : SALTS + 2 * d],
        integers[SALTS + 2 * d : SALTS + 3 * d],
        integers[SALTS : SALTS + d],
    )


@jit
def unpack(table: Any) -> Any:
    """The eleven arrays, given their addresses and shapes, as a state and a ledger."""
    at, n, m = table[:, 0], table[:, 1], table[:, 2]
    state = State(
        carray(float_pointer(at[0]), (n[0],)),
        carray(integer_pointer(at[1]), (n[1],)),
        carray(integer_pointer(at[2]), (n[2],)),
        carray(float_pointer(at[3]), (n[3], m[3])),
    )
    ledger = Ledger(
        carray(integer_pointer(at[4]), (n[4],)),
        carray(float_pointer(at[5]), (n[5],)),
        carray(float_pointer(at[6]), (n[6], m[6])),
        carray(float_pointer(at[7]), (n[7], m[7])),
        carray(integer_pointer(at[8]), (n[8],)),
        carray(short_pointer(at[9]), (n[9], m[9])),
        carray(float_pointer(at[10]), (n[10], m[10])),
    )
    return state, ledger


@jit
def played_in(ledger: Ledger) -> Round:
    """The round in the scratch row."""
    return Round(ledger.slots, ledger.weights, ledger.late, ledger.tickets[0])
