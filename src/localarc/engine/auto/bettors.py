"""Bettors: one or two at each node, paid when losses there stay away from the target.

The threshold is base + D (lu U - ld V): U and V add up the bets of the nodes, lu and ld are 1
unless a limit would be crossed. docs/guarantees.md, theorem E, says what that guarantees.
"""

import math
from typing import Any

import numpy as np

from localarc.engine.auto.base import lowest_threshold
from localarc.engine.auto.hats import TO_BE_MADE
from localarc.engine.auto.layout import (
    BASE,
    BETS,
    CEILING,
    CEILING_FAILS,
    CEILING_SINCE,
    COSTLIEST,
    DOWN_BET,
    DOWN_COST,
    DOWN_GAIN,
    DOWN_SHARE,
    DOWN_SPENT,
    DOWN_SUM,
    DROP_DOWN,
    DROP_UP,
    EXCESS,
    FLOOR,
    FLOOR_FAILS,
    FLOOR_SINCE,
    GRANTED,
    ITS_FLOOR,
    ITS_UNIT,
    LEFT,
    LEVELS,
    LOST_DOWN,
    LOST_UP,
    MOST_WEIGHT,
    NEGLIGIBLE,
    NEXT,
    PAID,
    PENDING,
    ROUNDS,
    SEEN,
    SMALLEST_UNIT,
    STAKE,
    STAKE_ALL,
    STAKED,
    THRESHOLD,
    TWO_SIDED,
    UP_BASE,
    UP_BET,
    UP_COST,
    UP_GAIN,
    UP_INVERSE,
    UP_SHARE,
    UP_SPENT,
    UP_SUM,
    VISITS,
    WEIGHT_PENDING,
    Ledger,
    Round,
    State,
    bets_of,
    dimensions_of,
    hats_of_level,
    jit,
)
from localarc.engine.auto.wealth import FRESH_BET, largest_bet, wealth, wealths

SQUARE = 4.0 * (math.log(2.0) - 0.5)  # exp(x - SQUARE x^2) <= 1 + x for |x| <= 1/2
LATE_RESTART = 2.72  # a restart while something is pending grants at most e stakes


@jit
def is_two_sided(state: State, column: int) -> bool:
    """Whether the node in a column also bets on too few losses: the constant and the groups do."""
    if not state.numbers[TWO_SIDED]:
        return False
    return column == 0 or column > LEVELS * hats_of_level(dimensions_of(state))


@jit
def all_bets(state: State, slots: Any, weights: Any) -> Any:
    """U and V; nodes that `ask` would add bet as new ones, those it would restrict less."""
    two, late = state.numbers[TWO_SIDED] != 0.0, state.numbers[PENDING] > 0.0
    first_group = 1 + LEVELS * hats_of_level(dimensions_of(state))
    fresh = FRESH_BET * (0.5 if two else 1.0)
    up = down = 0.0
    for i in range(len(slots)):
        if slots[i] >= 0:
            node, share = state.nodes[slots[i]], STAKE * weights[i] if i else STAKE_ALL
            both = two and (i == 0 or i >= first_group)
            up_bet, down_bet = node[UP_BET], node[DOWN_BET] if both else 0.0
            if late and outgrows(node):
                up_bet, down_bet = bets(state, node, rounded_pending(node), both)
            up += share * up_bet
            down += share * down_bet
        elif slots[i] == TO_BE_MADE:
            up += STAKE * weights[i] * fresh
            down += STAKE * weights[i] * fresh if two and i >= first_group else 0.0
    return up, down


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
    for i in range(len(slots)):
        if slots[i] >= 0 and outgrows(state.nodes[slots[i]]):
            node, both = state.nodes[slots[i]], is_two_sided(state, i)
            node[MOST_WEIGHT] = rounded_pending(node)
            node[UP_BET], down = bets(state, node, node[MOST_WEIGHT], both)
            if both:
                node[DOWN_BET] = down


@jit
def outgrows(node: Any) -> bool:
    """Whether more weight is pending at a node than ever before."""
    pending = node[WEIGHT_PENDING]
    return pending > NEGLIGIBLE and pending > node[MOST_WEIGHT]  # type: ignore[no-any-return]


@jit
def rounded_pending(node: Any) -> float:
    """What is pending at a node, rounded up to 2^i - 1, so that bets rarely change."""
    pending = node[WEIGHT_PENDING]
    return max(pending, 2.0 ** math.ceil(math.log2(pending + 1.0)) - 1.0)  # type: ignore[no-any-return]


@jit
def bets(state: State, node: Any, most: float, both: bool) -> Any:
    """The up bet and the down bet of a node at which at most the weight `most` was pending."""
    numbers = state.numbers
    half = 0.5 if numbers[TWO_SIDED] else 1.0
    up = half * wealth(node[UP_GAIN], node[UP_COST], largest_bet(most, numbers[DROP_UP]))
    if not both:
        return up, 0.0
    largest = largest_bet(most, numbers[DROP_DOWN])
    return up, 0.5 * wealth(node[DOWN_GAIN], node[DOWN_COST], largest)


@jit
def cost(y: float, drop: float, seen: float, left: float, arrived: float, spent: float) -> float:
    """q: what a step y costs, given what was pending when its threshold went out."""
    if seen <= NEGLIGIBLE:
        return SQUARE * y * y
    if y >= 0.0:
        return SQUARE * y * y + y * max(0.0, min(seen, arrived + left))
    behind = largest_bet(seen, drop) * spent - arrived + 1.455 * drop * left
    return 1.25 * abs(y) * (abs(y) + max(0.0, min(1.455 * drop * seen, behind)))


@jit
def settle(state: State, played: Round, z: float, ledger: Ledger, row: int) -> None:
    """The loss of a round, z = (L - alpha) / top, moves the bets of its nodes.

    Later pending rounds that share a node (row > 0) take note.
    """
    account(state, played.ticket, z)
    numbers, slots = state.numbers, played.slots
    drop_up, drop_down = numbers[DROP_UP], numbers[DROP_DOWN]
    table = bets_of(state)
    gains, costs, largests = table[0], table[1], table[2]
    count = 0
    for i in range(len(slots)):
        if slots[i] < 0:
            continue
        node, two = state.nodes[slots[i]], is_two_sided(state, i)
        release(node, played.weights[i])
        node[VISITS] += played.weights[i]
        node[EXCESS] += z * played.weights[i]
        up = played.ticket[UP_SHARE] * z * played.weights[i]
        late = played.late[i]
        up_cost = cost(up, drop_up, late[SEEN], late[LEFT], late[UP_SUM], late[UP_SPENT])
        node[UP_GAIN] += up
        node[UP_COST] += up_cost
        if node[UP_GAIN] < 0.0:
            restart(numbers, node, i)
        gains[count], costs[count] = node[UP_GAIN], node[UP_COST]
        largests[count] = largest_bet(node[MOST_WEIGHT], drop_up)
        count += 1
        down = down_cost = 0.0
        if two:
            down = -played.ticket[DOWN_SHARE] * z * played.weights[i]
            down_cost = cost(
                down, drop_down, late[SEEN], late[LEFT], late[DOWN_SUM], late[DOWN_SPENT]
            )
            node[DOWN_GAIN] += down
            node[DOWN_COST] += down_cost
            gains[count], costs[count] = node[DOWN_GAIN], node[DOWN_COST]
            largests[count] = largest_bet(node[MOST_WEIGHT], drop_down)
            count += 1
        if row > 0:
            tell_later(ledger, row, i, played.weights[i], up, up_cost, down, down_cost)
    wealths(count, table)
    store_bets(state, slots)


@jit
def restart(numbers: Any, node: Any, column: int) -> None:
    """The losses at a node were below the target for long enough: begin again, and pay for it."""
    node[UP_GAIN], node[UP_COST] = 0.0, 0.0
    stake = STAKE if column else STAKE_ALL
    times = 1.0 if node[WEIGHT_PENDING] == 0.0 else LATE_RESTART
    numbers[STAKED] += times * stake * (0.5 if numbers[TWO_SIDED] else 1.0)


@jit
def store_bets(state: State, slots: Any) -> None:
    """The results of `wealths`, in the order in which `settle` asked for them."""
    totals, count = bets_of(state)[3], 0
    half = 0.5 if state.numbers[TWO_SIDED] else 1.0
    for i in range(len(slots)):
        if slots[i] >= 0:
            node = state.nodes[slots[i]]
            node[UP_BET] = half * (totals[count] / BETS)
            count += 1
            if is_two_sided(state, i):
                node[DOWN_BET] = 0.5 * (totals[count] / BETS)
                count += 1


@jit
def account(state: State, ticket: Any, z: float) -> None:
    """The sums of theorem E: what the bets were granted, and whether limits keep their word."""
    numbers = state.numbers
    base, unit, threshold = ticket[BASE], ticket[ITS_UNIT], ticket[THRESHOLD]
    numbers[PAID] += z * (threshold - base) / unit
    numbers[SMALLEST_UNIT] = min(numbers[SMALLEST_UNIT], unit)
    if z > 0.0:
        numbers[COSTLIEST] = max(numbers[COSTLIEST], threshold)
        numbers[LOST_UP] += (1.0 - ticket[UP_SHARE]) * z
        if numbers[CEILING] < np.inf:
            numbers[GRANTED] += z * (numbers[CEILING] - base) / unit
        else:
            numbers[UP_INVERSE] += z / unit
            numbers[UP_BASE] += z * base / unit
        if threshold >= numbers[CEILING]:
            count_failure(numbers, CEILING_FAILS, CEILING_SINCE)
    elif z < 0.0:
        numbers[LOST_DOWN] -= (1.0 - ticket[DOWN_SHARE]) * z
        if numbers[TWO_SIDED] and ticket[ITS_FLOOR] > -np.inf:
            numbers[GRANTED] -= z * (base - ticket[ITS_FLOOR]) / unit
        if threshold <= numbers[FLOOR]:
            count_failure(numbers, FLOOR_FAILS, FLOOR_SINCE)


@jit
def count_failure(numbers: Any, count: int, since: int) -> None:
    """A limit did not cost what it should; remember since which round."""
    if numbers[count] == 0.0:
        numbers[since] = numbers[ROUNDS] + 1.0
    numbers[count] += 1.0


@jit
def release(node: Any, weight: float) -> None:
    """A round is no longer pending at a node."""
    left = node[WEIGHT_PENDING] - weight
    node[WEIGHT_PENDING] = left if left >= NEGLIGIBLE else 0.0


@jit
def tell_later(
    ledger: Ledger,
    row: int,
    column: int,
    weight: float,
    up: float,
    up_cost: float,
    down: float,
    down_cost: float,
) -> None:
    """Later pending rounds at the same node note what an earlier one has added to it."""
    width = ledger.slots.shape[1]
    entry = ledger.links[row, column, NEXT]
    while entry >= 0:
        late = ledger.late[entry // width, entry % width]
        late[LEFT] = max(0.0, late[LEFT] - weight)
        late[UP_SUM] += up
        late[UP_SPENT] += up_cost
        late[DOWN_SUM] += down
        late[DOWN_SPENT] += down_cost
        entry = ledger.links[entry // width, entry % width, NEXT]
