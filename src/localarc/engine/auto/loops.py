"""The calls from Python: peek at a threshold, ask for one, tell its loss, forget it; or many.

Each call changes the state completely or not at all: an interrupt arrives before or after it.
"""

from typing import Any

import numpy as np

from localarc.betting.compiled.bettors import (
    all_bets,
    lowest_threshold,
    play,
    restrict_bets,
    settle,
)
from localarc.betting.compiled.ledger import (
    drop_pending,
    enter,
    first_missing,
    free_row,
    hold,
    leave,
    note_pending,
    recall,
    row_of_ticket,
    tell_later,
)
from localarc.engine.auto.base import (
    anchor,
    base_threshold,
    catch_up,
    follow,
    is_outdated,
    is_uninformed,
    learn,
    local_scores,
    note_score,
    offset,
    owns_base,
)
from localarc.engine.auto.eviction import sweep_if_full
from localarc.engine.auto.feature_spread import measure
from localarc.engine.auto.layout import (
    ALPHA,
    ASKED,
    BASE,
    CEILING,
    DOWN_SHARE,
    FREE_BASE,
    GIVEN,
    ISSUED,
    ITS_FLOOR,
    ITS_UNIT,
    LOCAL_MEAN,
    LOSS_SUM,
    MOST_PENDING,
    NO_NODE,
    NUMBER,
    PEEKED,
    PENDING,
    PENDING_BEFORE,
    ROUNDS,
    SCORES,
    SCORES_KNOWN,
    THRESHOLD,
    TO_BE_MADE,
    TOP,
    UNINFORMED,
    UNINFORMED_LOSSES,
    UP_SHARE,
    Ledger,
    Round,
    State,
    always,
    group_keys_of,
    input_of,
    jit,
    played_in,
    unpack,
    variable,
)
from localarc.engine.auto.nodes import (
    GROUP,
    JOINT,
    bring,
    find,
    is_full,
    locate,
    touch,
)
from localarc.engine.step import loss_at
from localarc.validation import LARGEST

PEEK, ASK, STEP = range(3)
UNCHECKED = 4


@jit
def look(state: State, slots: Any, weights: Any, given: float, given_unit: float) -> Any:
    """m(x), D(x), and the base before and after clipping; a given base replaces our own."""
    mean, unit = local_scores(state, slots, weights)
    unit = unit if np.isnan(given_unit) else given_unit
    if owns_base(state):
        free, base = base_threshold(state, mean, unit, offset(state, slots, weights))
        return mean, unit, free, base
    floor = lowest_threshold(state.numbers, given)
    return mean, unit, given, min(max(given, floor), state.numbers[CEILING])


@jit
def predict(state: State, played: Round, given: float, given_unit: float) -> Any:
    """The threshold of a located round, with its ticket filled in; and what `learn` needs."""
    mean, unit, free, base = look(state, played.slots, played.weights, given, given_unit)
    if played.slots[0] < 0:  # uninformed
        base = state.numbers[CEILING]
    up, down = all_bets(state, played.slots, played.weights)
    threshold, up_share, down_share, floor = play(state, base, unit, up, down)
    ticket = played.ticket
    ticket[BASE], ticket[ITS_UNIT], ticket[ITS_FLOOR] = base, unit, floor
    ticket[UP_SHARE], ticket[DOWN_SHARE], ticket[THRESHOLD] = up_share, down_share, threshold
    ticket[SCORES_KNOWN], ticket[GIVEN] = state.numbers[SCORES], given
    ticket[LOCAL_MEAN], ticket[FREE_BASE] = mean, free
    return mean, unit, free, base


@jit
def begin(state: State, played: Round, given: float, unit: float, peek: bool) -> Any:
    """Find the nodes of the input and its threshold; unless to peek, note what is pending there.

    `peek` is a literal wherever this is called: it is compiled for each of the two, which saves a
    tenth of a round.
    """
    if is_uninformed(state, given):
        played.slots[:] = NO_NODE
    else:
        locate(state, peek, played.slots, played.weights)
    if not peek:
        note(state, played)
    return predict(state, played, given, unit)


@jit
def note(state: State, played: Round) -> None:
    """What is pending when a threshold goes out."""
    pending = state.numbers[PENDING]
    state.numbers[MOST_PENDING] = max(state.numbers[MOST_PENDING], pending)
    if pending > 0.0:
        restrict_bets(state, played.slots)
        note_pending(state, played.slots, played.late)
    played.ticket[PENDING_BEFORE] = pending


@jit
def finish(state: State, ledger: Ledger, row: int, seen: Any, loss: float, score: float) -> None:
    """The loss of a round: the bets, then the base, then the scores. PENDING counts the others.

    The round is in the scratch row; its own row is 0 if it was not pending.
    """
    numbers, played = state.numbers, played_in(ledger)
    mean, unit, free, base = seen
    informed, z = played.slots[0] >= 0, (loss - numbers[ALPHA]) / numbers[TOP]
    if informed and row > 0:
        tell_later(state, ledger, row, z)
    if informed:
        settle(state, played, z)
    else:
        numbers[UNINFORMED] += 1.0
        numbers[UNINFORMED_LOSSES] += loss
    numbers[ROUNDS] += 1.0
    numbers[LOSS_SUM] += loss
    target = score
    if owns_base(state):
        anchor(state, mean, unit, free)
        if is_outdated(state, played):
            catch_up(state, mean, unit, free, score, informed)
        else:
            learn(state, played, mean, unit, free, base, loss - numbers[ALPHA])
    elif informed or not np.isfinite(score):
        target = score - played.ticket[GIVEN]
    else:
        target = 0.0  # from no base there is no distance
    if np.isfinite(target):
        follow(state, played.slots, played.weights, mean, target)
    note_score(state, score, target, mean, unit)


@jit
def hand_out(state: State, ledger: Ledger, row: int) -> None:
    """A threshold goes out: as a ticket in a row, or in none (0) if its loss follows at once."""
    numbers, played = state.numbers, played_in(ledger)
    numbers[ISSUED] += 1.0
    if row > 0:
        played.ticket[NUMBER] = numbers[ISSUED]
        enter(state, ledger, row)
    elif numbers[PENDING] > 0.0:
        hold(state, played.slots, played.weights)
    measure(state)
    sweep_if_full(state, ledger)


@jit
def least_threshold(breakpoints: Any, losses: Any, start: int, stop: int, loss: float) -> Any:
    """The least threshold of a step curve whose loss is at most this; infinite if none is."""
    for j in range(start, stop):
        if losses[j] <= loss:
            return breakpoints[j]
    return np.inf


@jit
def in_range(x: Any) -> bool:
    """Whether all features are there, finite and in range."""
    good = True
    for i in range(len(x)):
        good = good and abs(x[i]) <= LARGEST
    return good


@jit
def reuse(state: State, played: Round) -> Any:
    """What `begin` would return for the input that was peeked at last."""
    touch(state.nodes, played.slots, state.numbers[ASKED])
    note(state, played)
    ticket = played.ticket
    return ticket[LOCAL_MEAN], ticket[ITS_UNIT], ticket[FREE_BASE], ticket[BASE]


@jit
def can_reuse(state: State, played: Round, x: Any, keys: Any, weights: Any) -> bool:
    """Whether row 0 holds the threshold of this input and these groups, made since any change."""
    if state.integers[PEEKED] == 0 or not owns_base(state):
        return False
    if is_full(len(state.keys), state.numbers, variable(JOINT)):
        return False  # a peek counts no node that has no room
    here, group_keys = input_of(state), group_keys_of(state)
    for i in range(len(here)):
        if here[i] != x[i]:
            return False
    first = len(played.weights) - len(group_keys)
    for i in range(len(group_keys)):
        key = keys[i] if i < len(keys) else 0
        if group_keys[i] != key or (key and played.weights[first + i] != weights[i]):
            return False
    return not has_new(played.slots)


@jit
def has_new(slots: Any) -> bool:
    """Whether `ask` would add one of the nodes."""
    found = False
    for slot in slots:
        found = found or slot == TO_BE_MADE
    return found


def serve(
    table: Any,
    mode: int,
    x: Any,
    keys: Any,
    weights: Any,
    given: float,
    unit: float,
    loss: float,
    score: float,
) -> float:
    """The threshold of an input. PEEK changes nothing, ASK issues a ticket, STEP learns at once.

    With UNCHECKED added to the mode, an input that is not finite and in range changes nothing and
    returns NaN. One function, because compiling it takes as long for one mode as for all three.
    """
    if mode >= UNCHECKED:
        if not in_range(x):
            return np.nan
        mode -= UNCHECKED
    state, ledger = unpack(table)
    row = free_row(ledger, state.numbers[ISSUED] + 1.0) if mode == ASK else 0
    played = played_in(ledger)
    if mode == STEP and can_reuse(state, played, x, keys, weights):
        seen = reuse(state, played)
    else:
        bring(state, x, keys, weights, played.weights)
        if mode == PEEK:
            seen = begin(state, played, given, unit, True)
        else:
            seen = begin(state, played, given, unit, False)
    state.integers[PEEKED] = 1 if mode == PEEK else 0
    if mode != PEEK:
        hand_out(state, ledger, row)
    if mode == STEP:
        finish(state, ledger, row, seen, loss, score)
    return played.ticket[THRESHOLD]  # type: ignore[no-any-return]


@jit
def tell_row(state: State, ledger: Ledger, row: int, loss: float, score: float) -> None:
    """The loss of a pending round."""
    state.numbers[PENDING] -= 1.0
    recall(ledger, row)
    played = played_in(ledger)
    seen = look(state, played.slots, played.weights, played.ticket[GIVEN], np.nan)
    finish(state, ledger, row, seen, loss, score)
    leave(ledger, row)


@jit
def forget_row(state: State, ledger: Ledger, row: int) -> None:
    """A pending round whose loss will never come."""
    state.numbers[PENDING] -= 1.0
    drop_pending(state, ledger, row)
    leave(ledger, row)


def tell(table: Any, number: int, loss: float, score: float) -> bool:
    """The loss of a ticket; False, and nothing changed, if it is not pending."""
    state, ledger = unpack(table)
    state.integers[PEEKED] = 0
    row = row_of_ticket(ledger, number)
    if row == 0:
        return False
    tell_row(state, ledger, row, loss, score)
    return True


def forget(table: Any, number: int) -> bool:
    """A ticket whose loss will never come; False if it is not pending."""
    state, ledger = unpack(table)
    state.integers[PEEKED] = 0
    row = row_of_ticket(ledger, number)
    if row == 0:
        return False
    forget_row(state, ledger, row)
    return True


def tell_many(table: Any, tickets: Any, losses: Any, scores: Any) -> int:
    """`tell` for each ticket; or, changing nothing, the position of one that is not pending."""
    state, ledger = unpack(table)
    missing = first_missing(ledger, tickets)
    if missing < 0:
        state.integers[PEEKED] = 0
        for i in range(len(tickets)):
            row = row_of_ticket(ledger, tickets[i])
            tell_row(state, ledger, row, losses[i], scores[i])
    return missing


def forget_many(table: Any, tickets: Any) -> int:
    """`forget` for each ticket; or, changing nothing, the position of one that is not pending."""
    state, ledger = unpack(table)
    missing = first_missing(ledger, tickets)
    if missing < 0:
        state.integers[PEEKED] = 0
        for ticket in tickets:
            forget_row(state, ledger, row_of_ticket(ledger, ticket))
    return missing


def serve_many(
    table: Any,
    mode: int,
    X: Any,
    keys: Any,
    weights: Any,
    given: Any,
    at_least: Any,
    curves: Any,
    thresholds: Any,
    incurred: Any,
) -> None:
    """`serve` for each row of X.

    STEP learns from the loss of the row's curve at its threshold, or at `at_least` if that is more.
    """
    state, ledger = unpack(table)
    state.integers[PEEKED] = 0
    row, alpha = variable(0), state.numbers[ALPHA]
    played = played_in(ledger)
    breakpoints, losses, offsets = curves
    for t in range(len(X)):
        if mode == ASK:
            row = free_row(ledger, state.numbers[ISSUED] + 1.0)
        bring(state, X[t], keys[t], weights[t], played.weights)
        if mode == PEEK:
            begin(state, played, given[t], np.nan, True)
            thresholds[t] = played.ticket[THRESHOLD]
            continue
        seen = begin(state, played, given[t], np.nan, False)
        thresholds[t] = threshold = played.ticket[THRESHOLD]
        hand_out(state, ledger, row)
        if mode == STEP:
            start, stop = offsets[t], offsets[t + 1]
            shown = max(threshold, at_least[t])
            incurred[t] = loss_at(breakpoints, losses, start, stop, shown)
            score = least_threshold(breakpoints, losses, start, stop, alpha)
            finish(state, ledger, row, seen, incurred[t], score)


def find_group(table: Any, key: int) -> int:
    """The slot of a group; negative if it has none."""
    state, _ = unpack(table)
    kind, yes = variable(GROUP), always()
    return find(state.keys, state.nodes, state.numbers, key, kind, not yes, yes)


def is_sound(keys: Any) -> bool:
    """Whether every key of a table is found from its own slot, and some slot is empty."""
    mask = len(keys) - 1
    for slot in range(len(keys)):
        if keys[slot] != 0:
            at = keys[slot] & mask
            while at != slot and keys[at] != 0 and keys[at] != keys[slot]:
                at = (at + 1) & mask
            if at != slot:
                return False
    return True
