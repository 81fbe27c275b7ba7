"""Rounds with several candidates: all their nodes wait for the loss, those of one learn from it."""

from typing import Any

from localarc.betting.compiled.bettors import first_group
from localarc.betting.compiled.ledger import free_entry, leave, recall, withdraw
from localarc.engine.auto.layout import (
    BASE,
    CHAINED,
    COLUMN,
    DOWN_SHARE,
    GIVEN,
    ITS_FLOOR,
    ITS_UNIT,
    PENDING,
    SCORES_KNOWN,
    SLOT,
    THRESHOLD,
    UP_SHARE,
    Ledger,
    State,
    jit,
    played_in,
)
from localarc.engine.auto.loops import finish, look

_DECIDED = (BASE, GIVEN, ITS_UNIT, ITS_FLOOR, UP_SHARE, DOWN_SHARE, THRESHOLD, SCORES_KNOWN)


@jit
def drop_others(state: State, ledger: Ledger, row: int, kept: Any) -> None:
    """The groups of the other candidates wait no longer: for them the loss was the target."""
    links, last, entry = ledger.links, 0, int(ledger.chains[row])
    first = first_group(state)
    while entry > 0:
        after = int(links[entry, CHAINED])
        if links[entry, COLUMN] < first or contains(kept, state.keys[links[entry, SLOT]]):
            last = entry
        else:
            withdraw(state, ledger, entry)
            free_entry(ledger, entry)
            if last > 0:
                links[last, CHAINED] = after
            else:
                ledger.chains[row] = after
        entry = after


@jit
def contains(keys: Any, key: int) -> bool:
    """Whether a key is one of a few."""
    for other in keys:  # noqa: SIM110 - a loop compiles faster
        if other == key:
            return True
    return False


@jit
def tell_row_of(
    state: State, ledger: Ledger, row: int, kept: Any, decision: Any, loss: float, score: float
) -> None:
    """The loss of one candidate of a pending round, whose groups are `kept`."""
    drop_others(state, ledger, row, kept)
    recall(ledger, row)
    played = played_in(ledger)
    for i in _DECIDED:
        played.ticket[i] = decision[i]
    state.numbers[PENDING] -= 1.0
    seen = look(state, played.slots, played.weights, played.ticket[GIVEN], played.ticket[ITS_UNIT])
    finish(state, ledger, row, seen, loss, score)
    leave(ledger, row)
