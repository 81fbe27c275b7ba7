"""Rounds with several candidates: all their nodes wait for the loss, those of one learn from it."""

from typing import Any

from localarc.engine.auto.bettors import first_group, release, tell_later
from localarc.engine.auto.layout import (
    BASE,
    DOWN_SHARE,
    GIVEN,
    ITS_FLOOR,
    ITS_UNIT,
    PENDING,
    SCORES_KNOWN,
    THRESHOLD,
    UP_SHARE,
    Ledger,
    State,
    jit,
    row_of,
)
from localarc.engine.auto.ledger import leave, unlink
from localarc.engine.auto.loops import finish, look

_DECIDED = (BASE, GIVEN, ITS_UNIT, ITS_FLOOR, UP_SHARE, DOWN_SHARE, THRESHOLD, SCORES_KNOWN)


@jit
def drop_others(state: State, ledger: Ledger, row: int, kept: Any) -> None:
    """The groups of the other candidates wait no longer: for them the loss was the target."""
    slots, weights = ledger.slots[row], ledger.weights[row]
    for i in range(first_group(state), len(slots)):
        if slots[i] >= 0 and not contains(kept, state.keys[slots[i]]):
            release(state.nodes, slots[i], weights[i])
            node = state.nodes[slots[i]]
            tell_later(ledger, row, i, node, (weights[i], 0.0, 0.0, 0.0, 0.0))
            unlink(state, ledger, row, i)
            slots[i] = -1


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
    played = row_of(ledger, row)
    for i in _DECIDED:
        played.ticket[i] = decision[i]
    state.numbers[PENDING] -= 1.0
    seen = look(state, played.slots, played.weights, played.ticket[GIVEN], played.ticket[ITS_UNIT])
    finish(state, ledger, row, seen, loss, score)
    leave(state, ledger, row)
