"""The ledger of pending rounds: tickets by number, and per node a list in order of prediction."""

from typing import Any

from localarc.engine.auto.bettors import newest_entry, release, tell_later
from localarc.engine.auto.layout import (
    ARRIVED,
    LATE,
    NEWEST,
    NEXT,
    NUMBER,
    PENDING,
    PREVIOUS,
    SEEN,
    TOTALS,
    WEIGHT_PENDING,
    Ledger,
    State,
    jit,
)

NOBODY = -1  # the end of a list


@jit
def free_row(ledger: Ledger, number: Any) -> int:
    """A row for a new ticket; there must be one. Rows are probed from the number's own."""
    rows = len(ledger.tickets) - 1
    at = int(number) % rows
    while ledger.tickets[1 + at, NUMBER] != 0.0:
        at = (at + 1) % rows
    return 1 + at


@jit
def row_of_ticket(ledger: Ledger, number: Any) -> int:
    """The row of a pending ticket, 0 if there is none."""
    rows = len(ledger.tickets) - 1
    at = int(number) % rows
    for _ in range(rows):
        if ledger.tickets[1 + at, NUMBER] == number:
            return 1 + at
        at = (at + 1) % rows
    return 0


@jit
def first_missing(ledger: Ledger, numbers: Any) -> int:
    """The position of the first number that is no pending ticket's, -1 if there is none."""
    for i in range(len(numbers)):
        if row_of_ticket(ledger, numbers[i]) == 0:
            return i
    return -1


@jit
def note_pending(state: State, slots: Any, late: Any) -> None:
    """What is pending at each node as a threshold goes out; nothing of it has arrived yet."""
    for i in range(len(slots)):
        if slots[i] >= 0:
            late[i, :] = 0.0
            late[i, SEEN] = state.nodes[slots[i], WEIGHT_PENDING]


@jit
def enter(state: State, ledger: Ledger, row: int) -> None:
    """A round is pending at its nodes, after all others there."""
    state.numbers[PENDING] += 1.0
    hold(state, ledger.slots[row], ledger.weights[row])
    slots = ledger.slots[row]
    for i in range(len(slots)):
        if slots[i] >= 0:
            copy_totals(ledger, newest_entry(state.nodes[slots[i]]), ledger.late[row, i])
    append(state, ledger, row)


@jit
def copy_totals(ledger: Ledger, newest: int, late: Any) -> None:
    """A round goes behind the newest one: nothing has arrived since its threshold went out."""
    width = ledger.slots.shape[1]
    for k in range(ARRIVED, ARRIVED + TOTALS):
        total = 0.0
        if newest >= 0:
            total = ledger.late[newest // width, newest % width, k + TOTALS]
        late[k] = late[k + TOTALS] = total


@jit
def hold(state: State, slots: Any, weights: Any) -> None:
    """Add the weights of a round to what is pending at its nodes."""
    for i in range(len(slots)):
        if slots[i] >= 0:
            state.nodes[slots[i], WEIGHT_PENDING] += weights[i]


@jit
def append(state: State, ledger: Ledger, row: int) -> None:
    """Put a round at the end of the lists of its nodes."""
    slots, width = ledger.slots[row], ledger.slots.shape[1]
    for i in range(width):
        if slots[i] >= 0:
            node, entry = state.nodes[slots[i]], row * width + i
            newest = newest_entry(node)
            ledger.links[row, i, NEXT], ledger.links[row, i, PREVIOUS] = NOBODY, newest
            if newest >= 0:
                ledger.links[newest // width, newest % width, NEXT] = entry
            node[NEWEST] = entry + 1


@jit
def leave(state: State, ledger: Ledger, row: int) -> None:
    """Take a round out of the lists of its nodes, and free its row."""
    for i in range(ledger.slots.shape[1]):
        if ledger.slots[row, i] >= 0:
            unlink(state, ledger, row, i)
    ledger.tickets[row, NUMBER] = 0.0


@jit
def unlink(state: State, ledger: Ledger, row: int, column: int) -> None:
    """Take a round out of the list of one of its nodes."""
    width = ledger.slots.shape[1]
    after, before = ledger.links[row, column, NEXT], ledger.links[row, column, PREVIOUS]
    if before >= 0:
        ledger.links[before // width, before % width, NEXT] = after
    if after >= 0:
        ledger.links[after // width, after % width, PREVIOUS] = before
    else:
        state.nodes[ledger.slots[row, column], NEWEST] = before + 1
        if before >= 0:
            newest, late = ledger.late[before // width, before % width], ledger.late[row, column]
            for k in range(ARRIVED + TOTALS, LATE):
                newest[k] = late[k]


@jit
def give_up(state: State, ledger: Ledger, row: int) -> None:
    """No loss will come: as if it had been the target."""
    slots, weights = ledger.slots[row], ledger.weights[row]
    for i in range(len(slots)):
        if slots[i] >= 0:
            release(state.nodes, slots[i], weights[i])
            node = state.nodes[slots[i]]
            tell_later(ledger, row, i, node, (weights[i], 0.0, 0.0, 0.0, 0.0))
