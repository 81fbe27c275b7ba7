"""Rounds with candidates: what is decided about each of them, for many rounds in one call."""

from typing import Any

from localarc.engine.auto.hats import bring
from localarc.engine.auto.layout import (
    ISSUED,
    PEEKED,
    THRESHOLD,
    Ledger,
    State,
    jit,
    row_of,
    unpack,
)
from localarc.engine.auto.ledger import free_row
from localarc.engine.auto.loops import begin, finish, hand_out
from localarc.engine.numba_tools import strict_jit


@jit
def peek_each(
    state: State, ledger: Ledger, x: Any, keys: Any, weights: Any, base: Any, units: Any, out: Any
) -> None:
    """The decision of each candidate of an input: what `PEEK` leaves in row 0."""
    played = row_of(ledger, 0)
    for k in range(len(base)):
        bring(state, x, keys[k], weights[k], played.weights)
        begin(state, played, base[k], units[k], True)
        out[k] = played.ticket


def peek_candidates(
    table: Any, X: Any, keys: Any, weights: Any, base: Any, units: Any, decisions: Any
) -> None:
    """Decisions (n, K, TICKET) of n inputs; changes nothing. Keys and weights are (n, K, g)."""
    state, ledger = unpack(table)
    state.integers[PEEKED] = 0
    for t in range(len(X)):
        peek_each(state, ledger, X[t], keys[t], weights[t], base, units, decisions[t])


def ask_candidates(
    table: Any,
    X: Any,
    keys: Any,
    weights: Any,
    base: Any,
    units: Any,
    decisions: Any,
    all_keys: Any,
    all_weights: Any,
) -> None:
    """The same, with a ticket for each input, which waits at the nodes of all candidates."""
    state, ledger = unpack(table)
    state.integers[PEEKED] = 0
    for t in range(len(X)):
        peek_each(state, ledger, X[t], keys[t], weights[t], base, units, decisions[t])
        row = free_row(ledger, state.numbers[ISSUED] + 1.0)
        played = row_of(ledger, row)
        bring(state, X[t], all_keys[t], all_weights[t], played.weights)
        begin(state, played, 0.0, 1.0, False)
        hand_out(state, ledger, row)


def step_candidates(
    table: Any,
    x: Any,
    keys: Any,
    weights: Any,
    base: Any,
    units: Any,
    decisions: Any,
    true: int,
    score: float,
) -> float:
    """The loss of one input whose label is known, learned from at once; and all decisions."""
    state, ledger = unpack(table)
    state.integers[PEEKED] = 0
    peek_each(state, ledger, x, keys, weights, base, units, decisions)
    loss = 1.0 if score > decisions[true, THRESHOLD] else 0.0
    played = row_of(ledger, 0)
    bring(state, x, keys[true], weights[true], played.weights)
    seen = begin(state, played, base[true], units[true], False)
    hand_out(state, ledger, 0)
    finish(state, ledger, 0, seen, loss, score)
    return loss


peek: Any = strict_jit(peek_candidates)
ask: Any = strict_jit(ask_candidates)
step: Any = strict_jit(step_candidates)
