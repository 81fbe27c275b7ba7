"""Bettors: one or two at each node, paid when losses there stay away from the target.

The threshold is base + D (lu U - ld V): U and V add up the bets of the nodes, lu and ld are 1
unless a limit would be crossed. docs/guarantees.md, theorem E, says what that guarantees.
"""

import math
from typing import Any

import numpy as np

from localarc.betting.compiled.account import account
from localarc.betting.compiled.wealth import FRESH_BET, largest_bet, wealths
from localarc.constants import (
    BETS,
    LATE_FACTOR,
    LATE_REACH,
    LATE_RESTART,
    LEVELS,
    NEGLIGIBLE_WEIGHT,
    SQUARE,
    STAKE,
    STAKE_ALL,
)
from localarc.engine.auto.layout import (
    ARRIVED,
    CEILING,
    DOWN_BET,
    DOWN_COST,
    DOWN_GAIN,
    DOWN_SHARE,
    DOWN_SUM,
    DROP_DOWN,
    DROP_UP,
    EXCESS,
    FLOOR,
    HIGHEST,
    LOWEST,
    MOST_WEIGHT,
    PENDING,
    PENDING_BEFORE,
    SCORES,
    SEEN,
    STAKED,
    TO_BE_MADE,
    TWO_SIDED,
    UP_BET,
    UP_COST,
    UP_GAIN,
    UP_SHARE,
    UP_SUM,
    VISITS,
    WEIGHT_PENDING,
    Round,
    State,
    bets_of,
    dimensions_of,
    hats_of_level,
    inlined,
    jit,
    variable,
)


@jit
def first_group(state: State) -> int:
    """The column of the first group, after the constant and the hats."""
    return 1 + LEVELS * hats_of_level(dimensions_of(state))


@inlined
def bets_down(two: float, column: int, first: int) -> bool:
    """Whether the node in a column also bets on too few losses: the constant and the groups do."""
    return two != 0.0 and (column == 0 or column >= first)


@jit
def all_bets(state: State, slots: Any, weights: Any) -> Any:
    """U and V; nodes that `ask` would add bet as new ones, those it would restrict less."""
    numbers, nodes, first = state.numbers, state.nodes, first_group(state)
    two, late = numbers[TWO_SIDED], numbers[PENDING] > 0.0
    fresh = FRESH_BET * (0.5 if two else 1.0)
    up = down = 0.0
    for i in range(len(slots)):
        s, both = slots[i], bets_down(two, i, first)
        share = STAKE * weights[i] if i else STAKE_ALL
        if s >= 0:
            up_bet, down_bet = nodes[s, UP_BET], nodes[s, DOWN_BET]
            if late and outgrows(nodes, s):
                up_bet, down_bet = restricted_bets(state, s, rounded_pending(nodes, s), both)
            up += share * up_bet
            down += share * down_bet if both else 0.0
        elif s == TO_BE_MADE:
            up += share * fresh
            down += share * fresh if both else 0.0
    return up, down


@jit
def lowest_threshold(numbers: Any, base: float) -> float:
    """How far bets may lower the threshold: to the floor, or one range below the scores seen."""
    if not numbers[TWO_SIDED] or numbers[FLOOR] > -np.inf:
        return numbers[FLOOR]  # type: ignore[no-any-return]
    return 2.0 * numbers[LOWEST] - numbers[HIGHEST] if numbers[SCORES] > 0.0 else base


@jit
def play(state: State, base: float, unit: float, up: float, down: float) -> Any:
    """Threshold, shares of the up and down bets that are played, and the floor."""
    floor, ceiling = lowest_threshold(state.numbers, base), state.numbers[CEILING]
    threshold = base + unit * (up - down)
    if threshold < floor:
        share = (base + unit * up - floor) / (unit * down)
        return floor, 1.0, min(max(share, 0.0), 1.0), floor
    if threshold > ceiling:
        share = (ceiling - base + unit * down) / (unit * up)
        return ceiling, min(max(share, 0.0), 1.0), 1.0, floor
    return threshold, 1.0, 1.0, floor


@jit
def restrict_bets(state: State, slots: Any) -> None:
    """Before a threshold goes out: what is pending at a node bounds its bets, for good."""
    numbers, nodes, first = state.numbers, state.nodes, first_group(state)
    for i in range(len(slots)):
        s = slots[i]
        if s >= 0 and outgrows(nodes, s):
            both = bets_down(numbers[TWO_SIDED], i, first)
            nodes[s, MOST_WEIGHT] = rounded_pending(nodes, s)
            nodes[s, UP_BET], down = restricted_bets(state, s, nodes[s, MOST_WEIGHT], both)
            if both:
                nodes[s, DOWN_BET] = down


@inlined
def outgrows(nodes: Any, slot: int) -> bool:
    """Whether more weight is pending at a node than ever before."""
    pending = nodes[slot, WEIGHT_PENDING]
    return pending > NEGLIGIBLE_WEIGHT and pending > nodes[slot, MOST_WEIGHT]  # type: ignore[no-any-return]


@jit
def rounded_pending(nodes: Any, slot: int) -> float:
    """What is pending at a node, rounded up to 2^i - 1, so that bets rarely change."""
    pending = nodes[slot, WEIGHT_PENDING]
    rounded = 2.0 ** math.ceil(math.log2(pending + 1.0)) - 1.0
    return max(pending, rounded)  # type: ignore[no-any-return]


@jit
def restricted_bets(state: State, slot: int, most: float, both: bool) -> Any:
    """The up bet and the down bet of a node at which at most the weight `most` was pending."""
    numbers, nodes, table = state.numbers, state.nodes, bets_of(state)
    request_bet(nodes, slot, UP_GAIN, largest_bet(most, numbers[DROP_UP]), table, 0)
    request_bet(nodes, slot, DOWN_GAIN, largest_bet(most, numbers[DROP_DOWN]), table, 1)
    count = variable(2 if both else 1)
    wealths(count, table[0], table[1], table[2], table[3], table[4], table[5])
    half = 0.5 if numbers[TWO_SIDED] else 1.0
    return half * (table[3, 0] / BETS), 0.5 * (table[3, 1] / BETS) if both else 0.0


@inlined
def request_bet(nodes: Any, slot: int, gain: int, largest: float, table: Any, at: int) -> None:
    """Put gain, cost (in the next column) and largest bet where `wealths` finds them."""
    table[0, at], table[1, at], table[2, at] = nodes[slot, gain], nodes[slot, gain + 1], largest


@jit
def late_cost(y: float, drop: float, late: Any, i: int, column: int) -> float:
    """q: what a step y costs, given what was pending when its threshold went out.

    `column` says where what has arrived since then is added up: the steps, then their costs.
    """
    seen = late[i, SEEN]
    if seen <= NEGLIGIBLE_WEIGHT:
        return SQUARE * y * y
    left = max(0.0, seen - late[i, ARRIVED])
    arrived, spent = late[i, column], late[i, column + 1]
    if y >= 0.0:
        return SQUARE * y * y + y * max(0.0, min(seen, arrived + left))  # type: ignore[no-any-return]
    behind = largest_bet(seen, drop) * spent - arrived + LATE_REACH * drop * left
    return LATE_FACTOR * abs(y) * (abs(y) + max(0.0, min(LATE_REACH * drop * seen, behind)))  # type: ignore[no-any-return]


@jit
def settle(state: State, played: Round, z: float) -> None:
    """The loss of a round, z = (L - alpha) / top, moves the bets of its nodes."""
    account(state.numbers, played.ticket, z)
    numbers, nodes, table, first = state.numbers, state.nodes, bets_of(state), first_group(state)
    slots, weights, late = played.slots, played.weights, played.late
    up_share, down_share = played.ticket[UP_SHARE], played.ticket[DOWN_SHARE]
    two, is_late, count = numbers[TWO_SIDED], played.ticket[PENDING_BEFORE] > 0.0, variable(0)
    for i in range(len(slots)):
        s = slots[i]
        if s < 0:
            continue
        release(nodes, s, weights[i])
        nodes[s, VISITS] += weights[i]
        nodes[s, EXCESS] += z * weights[i]
        y = up_share * z * weights[i]
        q = late_cost(y, numbers[DROP_UP], late, i, UP_SUM) if is_late else SQUARE * y * y
        nodes[s, UP_GAIN] += y
        nodes[s, UP_COST] += q
        if nodes[s, UP_GAIN] < 0.0:
            restart(numbers, nodes, s, i)
        most = nodes[s, MOST_WEIGHT]
        request_bet(nodes, s, UP_GAIN, largest_bet(most, numbers[DROP_UP]), table, count)
        count += 1
        if bets_down(two, i, first):
            y = -down_share * z * weights[i]
            q = late_cost(y, numbers[DROP_DOWN], late, i, DOWN_SUM) if is_late else SQUARE * y * y
            nodes[s, DOWN_GAIN] += y
            nodes[s, DOWN_COST] += q
            request_bet(nodes, s, DOWN_GAIN, largest_bet(most, numbers[DROP_DOWN]), table, count)
            count += 1
    wealths(count, table[0], table[1], table[2], table[3], table[4], table[5])
    store_bets(nodes, slots, table, two, first)


@jit
def steps_at(state: State, played: Round, z: float, i: int) -> Any:
    """What a round adds to the node in a column: its weight, and the steps of `settle` there."""
    numbers, late = state.numbers, played.late
    weight, is_late = played.weights[i], played.ticket[PENDING_BEFORE] > 0.0
    up, down = played.ticket[UP_SHARE] * z * weight, 0.0
    if bets_down(numbers[TWO_SIDED], i, first_group(state)):
        down = -played.ticket[DOWN_SHARE] * z * weight
    up_cost, down_cost = SQUARE * up * up, SQUARE * down * down
    if is_late:
        up_cost = late_cost(up, numbers[DROP_UP], late, i, UP_SUM)
        down_cost = late_cost(down, numbers[DROP_DOWN], late, i, DOWN_SUM) if down else 0.0
    return weight, up, up_cost, down, down_cost


@jit
def restart(numbers: Any, nodes: Any, slot: int, column: int) -> None:
    """The losses at a node were below the target for long enough: begin again, and pay for it."""
    nodes[slot, UP_GAIN], nodes[slot, UP_COST] = 0.0, 0.0
    stake = STAKE if column else STAKE_ALL
    times = 1.0 if nodes[slot, WEIGHT_PENDING] == 0.0 else LATE_RESTART
    numbers[STAKED] += times * stake * (0.5 if numbers[TWO_SIDED] else 1.0)


@jit
def store_bets(nodes: Any, slots: Any, table: Any, two: float, first: int) -> None:
    """The results of `wealths`, in the order in which `settle` asked for them."""
    half, count = 0.5 if two else 1.0, 0
    for i in range(len(slots)):
        s = slots[i]
        if s >= 0:
            nodes[s, UP_BET] = half * (table[3, count] / BETS)
            count += 1
            if bets_down(two, i, first):
                nodes[s, DOWN_BET] = 0.5 * (table[3, count] / BETS)
                count += 1


@inlined
def release(nodes: Any, slot: int, weight: float) -> None:
    """A round is no longer pending at a node."""
    left = nodes[slot, WEIGHT_PENDING] - weight
    nodes[slot, WEIGHT_PENDING] = left if left >= NEGLIGIBLE_WEIGHT else 0.0
