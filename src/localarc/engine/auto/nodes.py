"""Where a round lies: the nodes of an input and their weights, found in or added to the table.

On each level the input lies in one simplex of Kuhn's triangulation of its grid cell: d + 1 corners
with barycentric weights. With several features, each feature alone has two hats as well.
"""

import math
from typing import Any

import numpy as np

from localarc.betting.compiled.wealth import FRESH_BET
from localarc.constants import ENOUGH_VISITS, FARTHEST_CELL, GRID_SHIFT, LEVELS, STAKE
from localarc.engine.auto.layout import (
    ASKED,
    DOWN_BET,
    HAT_PART,
    JOINT_PART,
    JOINTS,
    LAST_ASKED,
    MEASURED,
    NO_NODE,
    NODE_PART,
    NODES,
    PLANNED,
    PLANNED_JOINTS,
    REFUSED_GROUPS,
    REFUSED_HATS,
    STAKED,
    TO_BE_MADE,
    TWO_SIDED,
    UP_BET,
    VISITS,
    State,
    always,
    grid_of,
    group_keys_of,
    hats_of_level,
    hot,
    input_of,
    jit,
    place_of,
    positions_of,
    variable,
)

JOINT, SINGLE, GROUP = range(3)
KIND_SHIFT = 61
KEY_BITS = 2**KIND_SHIFT - 1


@jit
def mix(key: Any, kind: int) -> Any:
    """Scramble a key, and say in its upper bits what kind of node it is of; never 0."""
    key = (key ^ (key >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (np.int64(key ^ (key >> np.uint64(32))) & KEY_BITS) | (kind + 1) << KIND_SHIFT


@jit
def kind_of(key: Any) -> Any:
    """What kind of node a key is of."""
    return (key >> KIND_SHIFT) - 1


@hot
def find(
    keys: Any, nodes: Any, numbers: Any, key: Any, kind: int, may_add: bool, peek: bool
) -> int:
    """The slot of a node, added if it may be; NO_NODE, or TO_BE_MADE if `ask` would add it."""
    mask = len(keys) - 1
    slot = key & mask
    while keys[slot] != key and keys[slot] != 0:
        slot = (slot + 1) & mask
    if keys[slot] == 0:
        return make(keys, nodes, numbers, key, slot, kind, may_add, peek)
    if not peek:
        nodes[slot, LAST_ASKED] = numbers[ASKED]
    return slot  # type: ignore[no-any-return]


@jit
def make(
    keys: Any,
    nodes: Any,
    numbers: Any,
    key: Any,
    slot: int,
    kind: int,
    may_add: bool,
    peek: bool,
) -> int:
    """`find` where there is no such node yet; it would go to the slot."""
    if not may_add:
        return NO_NODE
    if is_full(len(keys), numbers, kind):
        if not peek:
            numbers[REFUSED_GROUPS if kind == GROUP else REFUSED_HATS] += 1.0
        return NO_NODE
    if peek:
        numbers[PLANNED] += 1.0
        numbers[PLANNED_JOINTS] += 1.0 if kind == JOINT else 0.0
        return TO_BE_MADE
    keys[slot] = key
    add_node(nodes, numbers, slot, kind)
    return slot


@jit
def touch(nodes: Any, slots: Any, asked: float) -> None:
    """A round visits its nodes: eviction spares them."""
    for i in range(1, len(slots)):
        if slots[i] >= 0:
            nodes[slots[i], LAST_ASKED] = asked


@jit
def is_full(size: int, numbers: Any, kind: int) -> bool:
    """Whether a table of this size has no room for a node of this kind."""
    if numbers[NODES] + numbers[PLANNED] >= (NODE_PART if kind == GROUP else HAT_PART) * size:
        return True
    joints = numbers[JOINTS] + numbers[PLANNED_JOINTS]
    return kind == JOINT and joints >= JOINT_PART * size


@jit
def add_node(nodes: Any, numbers: Any, slot: int, kind: int) -> None:
    """A node is born; its stake is granted."""
    half = 0.5 if numbers[TWO_SIDED] else 1.0
    nodes[slot, :] = 0.0
    nodes[slot, LAST_ASKED] = numbers[ASKED]
    nodes[slot, UP_BET] = half * FRESH_BET
    if numbers[TWO_SIDED] and kind == GROUP:
        nodes[slot, DOWN_BET] = 0.5 * FRESH_BET
    numbers[STAKED] += STAKE if kind == GROUP else half * STAKE
    numbers[NODES] += 1.0
    numbers[JOINTS] += 1.0 if kind == JOINT else 0.0


@jit
def bring(state: State, x: Any, keys: Any, weights: Any, column_weights: Any) -> None:
    """Copy an input and its groups to where `locate` expects them, from any memory layout."""
    here, group_keys = input_of(state), group_keys_of(state)
    for i in range(len(here)):
        here[i] = x[i]
    first = len(column_weights) - len(group_keys)
    for i in range(len(group_keys)):
        group_keys[i] = keys[i] if i < len(keys) else 0
        column_weights[first + i] = weights[i] if i < len(keys) else 0.0


# The functions below pass arrays one by one: reading them from a tuple again and again would count
# references, which takes as long as the work itself.


@jit
def locate(state: State, peek: bool, slots: Any, weights: Any) -> None:
    """Slots and weights of all nodes: the constant, by level joint then single hats, groups."""
    keys, nodes, numbers = state.keys, state.nodes, state.numbers
    x, grid, group_keys = positions_of(state), grid_of(state), group_keys_of(state)
    measure_positions(input_of(state), grid, x)
    fractions, cells, order, salts = place_of(state)
    table, d = (keys, nodes, numbers), len(x)
    columns, may_add = hats_of_level(d), always()
    slots[:] = NO_NODE
    slots[0], weights[0] = len(keys), 1.0
    for level in range(LEVELS if d > 0 and numbers[MEASURED] > 0.0 else 0):
        at = 1 + level * columns
        key, complete = place_in_cell(x, grid, salts, level, fractions, cells, order)
        if d > 1:
            for i in range(d):
                single_hats(
                    table, fractions[i], cells[i], level - int(grid[2, i]), salts[i],
                    peek, slots, weights, at + d + 1 + 2 * i,
                )  # fmt: skip
        if complete:
            may_add = joint_hats(
                table, key, fractions, order, salts, may_add, peek, slots, weights, at
            )
    for i in range(len(group_keys)):
        if group_keys[i] != 0:
            at = 1 + LEVELS * columns + i
            slots[at] = find(keys, nodes, numbers, group_keys[i], variable(GROUP), always(), peek)
    numbers[PLANNED] = numbers[PLANNED_JOINTS] = 0.0


@jit
def measure_positions(x: Any, grid: Any, positions: Any) -> None:
    """Where an input lies, in cells of the first level from the origin of the grid."""
    for i in range(len(x)):
        positions[i] = math.ldexp((x[i] - grid[0, i]) / grid[1, i], -int(grid[2, i]))


@jit
def place_in_cell(
    x: Any, grid: Any, salts: Any, level: int, fractions: Any, cells: Any, order: Any
) -> Any:
    """Cell, fractions and their descending order; the cell's key, and whether x is complete.

    `x` is the input in cells of this level, and of the next one after the call.
    """
    key, complete = np.uint64(level + 1), True
    for i in range(len(x)):
        if math.isnan(x[i]):
            fractions[i], complete = np.nan, False
            continue
        scale = level - int(grid[2, i])
        shift = (scale + 64) * (i + 1) * GRID_SHIFT
        y = min(max(x[i] + (shift - math.floor(shift)), -FARTHEST_CELL), FARTHEST_CELL)
        x[i] *= 2.0
        cells[i], fractions[i] = np.int64(math.floor(y)), y - math.floor(y)
        salt = np.uint64(salts[i])
        key += np.uint64(cells[i]) * salt + np.uint64(scale + 512) * (salt >> np.uint64(7))
        k = i
        while complete and k > 0 and fractions[order[k - 1]] < fractions[i]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i
    return key, complete


@jit
def single_hats(
    table: Any,
    fraction: float,
    cell: int,
    scale: int,
    salt: int,
    peek: bool,
    slots: Any,
    weights: Any,
    start: int,
) -> None:
    """The two hats of a feature, unless it is missing."""
    if math.isnan(fraction):
        return
    keys, nodes, numbers = table
    kind, may_add = variable(SINGLE), always()
    key = np.uint64(scale + 512) * np.uint64(0x9E3779B97F4A7C15)
    key += np.uint64(salt) * np.uint64(0xA0761D6478BD642F)
    for side in range(2):
        weight = fraction if side else 1.0 - fraction
        weights[start + side] = weight
        if weight > 0.0:
            corner = key + np.uint64(cell + side) * np.uint64(0xE7037ED1A0B428DB)
            found = find(keys, nodes, numbers, mix(corner, kind), kind, may_add, peek)
            slots[start + side] = found


@jit
def joint_hats(
    table: Any,
    key: Any,
    fractions: Any,
    order: Any,
    salts: Any,
    may_add: bool,
    peek: bool,
    slots: Any,
    weights: Any,
    start: int,
) -> bool:
    """The corners of the simplex; whether the nearest has enough visits for a finer level."""
    keys, nodes, numbers = table
    d, kind = len(order), variable(JOINT)
    last, largest, visits = 1.0, 0.0, 0.0
    for k in range(d + 1):
        at, weight = start + k, last - (fractions[order[k]] if k < d else 0.0)
        weights[at] = weight
        last -= weight
        if weight > 0.0:
            slots[at] = find(keys, nodes, numbers, mix(key, kind), kind, may_add, peek)
        if weight > largest:
            largest = weight
            visits = nodes[slots[at], VISITS] if slots[at] >= 0 else 0.0
        if k < d:
            key += np.uint64(salts[order[k]])
    return visits >= ENOUGH_VISITS
