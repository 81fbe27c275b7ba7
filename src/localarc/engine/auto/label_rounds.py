"""Rounds with candidates: what is decided about each of them, for many rounds in one call."""

from typing import Any

import numpy as np

from localarc.betting.compiled.ledger import first_missing, free_row, row_of_ticket
from localarc.engine.auto.candidates import tell_row_of
from localarc.engine.auto.label_scores import (
    LabelTables,
    base_of,
    describe,
    learn_label,
    unit_of,
)
from localarc.engine.auto.layout import (
    ISSUED,
    NUMBER,
    PEEKED,
    PENDING,
    PENDING_BEFORE,
    THRESHOLD,
    TICKET,
    Ledger,
    State,
    jit,
    played_in,
    unpack,
)
from localarc.engine.auto.loops import begin, finish, hand_out
from localarc.engine.auto.nodes import bring
from localarc.engine.numba_tools import strict_jit


@jit
def peek_each(
    state: State, ledger: Ledger, x: Any, keys: Any, weights: Any, base: Any, units: Any, out: Any
) -> None:
    """The decision of each candidate of an input: what `PEEK` leaves in row 0."""
    played = played_in(ledger)
    for k in range(len(base)):
        bring(state, x, keys[k], weights[k], played.weights)
        begin(state, played, base[k], units[k], True)
        out[k] = played.ticket
        out[k, NUMBER] = out[k, PENDING_BEFORE] = 0.0  # of the round that was here before


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
        played = played_in(ledger)
        bring(state, X[t], all_keys[t], all_weights[t], played.weights)
        begin(state, played, base[0] if base[0] == np.inf else 0.0, 1.0, False)
        hand_out(state, ledger, row)


@jit
def fill_bases(tables: LabelTables, rows: Any, base: Any, units: Any) -> None:
    """The base and the unit of each candidate, given the rows of their labels."""
    for k in range(len(rows)):
        base[k], units[k] = base_of(tables, rows[k])[1], unit_of(tables, rows[k])


def all_bases(tables: LabelTables, rows: Any, base: Any, units: Any) -> None:
    """`fill_bases`, for Python."""
    fill_bases(tables, rows, base, units)


def learn_one(tables: LabelTables, row: int, score: float, loss: float, pending: float) -> None:
    """`learn_label`, for Python."""
    learn_label(tables, row, score, loss, pending)


def describe_one(tables: LabelTables, row: int, count: int) -> None:
    """Note what follows from the sorted scores of a row."""
    describe(tables.facts[row], tables.ordered[row, :count], tables.alpha)


def step_candidates(
    table: Any,
    X: Any,
    keys: Any,
    weights: Any,
    tables: LabelTables,
    rows: Any,
    true: Any,
    scores: Any,
    thresholds: Any,
) -> None:
    """Inputs whose labels are known, learned from one after the other; thresholds are (n, K)."""
    state, ledger = unpack(table)
    state.integers[PEEKED] = 0
    base, units = np.empty(len(rows)), np.empty(len(rows))
    decisions = np.empty((len(rows), TICKET))
    played = played_in(ledger)
    for t in range(len(X)):
        k, score = true[t], scores[t, true[t]]
        fill_bases(tables, rows, base, units)
        peek_each(state, ledger, X[t], keys[t], weights[t], base, units, decisions)
        thresholds[t] = decisions[:, THRESHOLD]
        loss = 1.0 if score > thresholds[t, k] else 0.0
        bring(state, X[t], keys[t, k], weights[t, k], played.weights)
        seen = begin(state, played, base[k], units[k], False)
        hand_out(state, ledger, 0)
        finish(state, ledger, 0, seen, loss, score)
        learn_label(tables, rows[k], score, loss, state.numbers[PENDING])


def tell_candidates(
    table: Any, tickets: Any, kept: Any, decisions: Any, tables: LabelTables, rows: Any, scores: Any
) -> int:
    """The true labels of tickets: by ticket, the keys of its groups, decision, row and score.

    Or, changing nothing, the position of a ticket that is not pending.
    """
    state, ledger = unpack(table)
    missing = first_missing(ledger, tickets)
    if missing < 0:
        for t in range(len(tickets)):
            loss = 1.0 if scores[t] > decisions[t, THRESHOLD] else 0.0
            row = row_of_ticket(ledger, tickets[t])
            tell_row_of(state, ledger, row, kept[t], decisions[t], loss, scores[t])
            learn_label(tables, rows[t], scores[t], loss, state.numbers[PENDING])
    return missing


peek: Any = strict_jit(peek_candidates)
ask: Any = strict_jit(ask_candidates)
step: Any = strict_jit(step_candidates)
tell: Any = strict_jit(tell_candidates)
bases: Any = strict_jit(all_bases)
learn: Any = strict_jit(learn_one)
describe_row: Any = strict_jit(describe_one)
