"""The ledger of pending rounds: tickets by number, each with a chain of entries, one per node.

A round whose threshold is looked for, or whose loss has come, is in the scratch row, which has a
column for every node that a round may have. Entries exist only for nodes that it does have.
"""

from typing import Any

from localarc.betting.compiled.arrivals import append, arrived_since, depart
from localarc.betting.compiled.bettors import release, steps_at
from localarc.engine.auto.layout import (
    CHAINED,
    COLUMN,
    FREE,
    ISSUE,
    NUMBER,
    PENDING,
    PENDING_BEFORE,
    SEEN,
    SLOT,
    SUMS,
    TOTALS,
    UNUSED,
    USED,
    WEIGHT,
    WEIGHT_PENDING,
    Ledger,
    State,
    jit,
    played_in,
)


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
def hold(state: State, slots: Any, weights: Any) -> None:
    """Add the weights of a round to what is pending at its nodes."""
    for i in range(len(slots)):
        if slots[i] >= 0:
            state.nodes[slots[i], WEIGHT_PENDING] += weights[i]


@jit
def new_entry(ledger: Ledger) -> int:
    """An entry that was given back, or else was never used; there must be one."""
    links = ledger.links
    entry = int(links[0, FREE])
    if entry > 0:
        links[0, FREE] = links[entry, CHAINED]
    else:
        entry = int(links[0, UNUSED])
        links[0, UNUSED] = entry + 1
    links[0, USED] += 1
    return entry


@jit
def enter(state: State, ledger: Ledger, row: int) -> None:
    """The round in the scratch row is pending from now on, at its nodes after all others there."""
    played, links, sums = played_in(ledger), ledger.links, ledger.sums
    state.numbers[PENDING] += 1.0
    hold(state, played.slots, played.weights)
    for k in range(len(played.ticket)):
        ledger.tickets[row, k] = played.ticket[k]
    is_late, last = played.ticket[PENDING_BEFORE] > 0.0, 0
    ledger.chains[row] = 0
    for i in range(len(played.slots)):
        if played.slots[i] < 0:
            continue
        entry = new_entry(ledger)
        links[entry, SLOT], links[entry, COLUMN], links[entry, CHAINED] = played.slots[i], i, 0
        sums[entry, ISSUE], sums[entry, WEIGHT] = played.ticket[NUMBER], played.weights[i]
        sums[entry, SUMS - 1] = played.late[i, SEEN] if is_late else 0.0
        for k in range(TOTALS):
            sums[entry, SUMS + k] = 0.0
        append(ledger, state.nodes[played.slots[i]], entry)
        if last > 0:
            links[last, CHAINED] = entry
        else:
            ledger.chains[row] = entry
        last = entry


@jit
def recall(ledger: Ledger, row: int) -> None:
    """Put a pending round into the scratch row."""
    played, links, sums = played_in(ledger), ledger.links, ledger.sums
    for k in range(len(played.ticket)):
        played.ticket[k] = ledger.tickets[row, k]
    played.slots[:] = -1
    entry = int(ledger.chains[row])
    while entry > 0:
        i = int(links[entry, COLUMN])
        played.slots[i], played.weights[i] = links[entry, SLOT], sums[entry, WEIGHT]
        played.late[i, :] = 0.0
        played.late[i, SEEN] = sums[entry, SUMS - 1]
        entry = int(links[entry, CHAINED])


@jit
def tell_later(state: State, ledger: Ledger, row: int, z: float) -> None:
    """The recalled round leaves its nodes; later ones note the steps that `settle` makes there.

    Before, the round itself notes what has arrived since its threshold went out.
    """
    played, entry = played_in(ledger), int(ledger.chains[row])
    while entry > 0:
        i = int(ledger.links[entry, COLUMN])
        node = state.nodes[ledger.links[entry, SLOT]]
        earlier = played.late[i, SEEN] > 0.0 and arrived_since(ledger, entry, played.late[i])
        depart(ledger, node, entry, steps_at(state, played, z, i), earlier)
        entry = int(ledger.links[entry, CHAINED])


@jit
def drop_pending(state: State, ledger: Ledger, row: int) -> None:
    """No loss will come: the round leaves its nodes as if it had been the target."""
    entry = int(ledger.chains[row])
    while entry > 0:
        withdraw(state, ledger, entry)
        entry = int(ledger.links[entry, CHAINED])


@jit
def withdraw(state: State, ledger: Ledger, entry: int) -> None:
    """A round leaves one node without a loss."""
    slot, weight = ledger.links[entry, SLOT], ledger.sums[entry, WEIGHT]
    release(state.nodes, slot, weight)
    depart(ledger, state.nodes[slot], entry, (weight, 0.0, 0.0, 0.0, 0.0), True)


@jit
def leave(ledger: Ledger, row: int) -> None:
    """Free the row and the entries of a round that has left its nodes."""
    links, entry = ledger.links, int(ledger.chains[row])
    while entry > 0:
        after = int(links[entry, CHAINED])
        free_entry(ledger, entry)
        entry = after
    ledger.tickets[row, NUMBER], ledger.chains[row] = 0.0, 0


@jit
def free_entry(ledger: Ledger, entry: int) -> None:
    """An entry may be used again."""
    links = ledger.links
    links[entry, SLOT], links[entry, CHAINED] = -1, links[0, FREE]
    links[0, FREE] = entry
    links[0, USED] -= 1


@jit
def gather(ledger: Ledger, rows: Any, counts: Any, entries: Any) -> None:
    """How many entries each row has, and which: one row's after the other's."""
    at = 0
    for i in range(len(rows)):
        entry = int(ledger.chains[rows[i]])
        while entry > 0:
            entries[at] = entry
            counts[i] += 1
            at += 1
            entry = int(ledger.links[entry, CHAINED])
