"""Where a round lies: the nodes of an input and their weights, found in or added to the table.

On each level the input lies in one simplex of Kuhn's triangulation of its grid cell: d + 1 corners
with barycentric weights. With several features, each feature alone has two hats as well.
"""

import math
from typing import Any

import numpy as np

from localarc.engine.auto.layout import (
    ASKED,
    DOWN_BET,
    HAT_PART,
    JOINT_PART,
    JOINTS,
    LAST_ASKED,
    LEVELS,
    MEASURED,
    NODE_PART,
    NODES,
    REFUSED_GROUPS,
    REFUSED_HATS,
    STAKE,
    STAKED,
    TWO_SIDED,
    UP_BET,
    VISITS,
    State,
    dimensions_of,
    grid_of,
    group_keys_of,
    hats_of_level,
    input_of,
    jit,
    place_of,
)
from localarc.engine.auto.wealth import FRESH_BET

JOINT, SINGLE, GROUP = range(3)
KIND_SHIFT = 61
KEY_BITS = 2**KIND_SHIFT - 1
NO_NODE, TO_BE_MADE = -1, -2
ENOUGH = 8.0  # visits of the nearest joint hat before finer ones are made
FARTHEST = 1e15  # cells from the origin; beyond, inputs share a cell


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


@jit
def find(state: State, key: Any, kind: int, may_add: bool, peek: bool) -> int:
    """The slot of a node, added if it may be; NO_NODE, or TO_BE_MADE if `ask` would add it."""
    keys, numbers = state.keys, state.numbers
    mask = len(keys) - 1
    slot = key & mask
    while keys[slot] != 0:
        if keys[slot] == key:
            if not peek:
                state.nodes[slot, LAST_ASKED] = numbers[ASKED]
            return slot  # type: ignore[no-any-return]
        slot = (slot + 1) & mask
    if not may_add:
        return NO_NODE
    if is_full(state, kind):
        if not peek:
            numbers[REFUSED_GROUPS if kind == GROUP else REFUSED_HATS] += 1.0
        return NO_NODE
    if peek:
        return TO_BE_MADE
    keys[slot] = key
    add_node(state, slot, kind)
    return slot  # type: ignore[no-any-return]


@jit
def is_full(state: State, kind: int) -> bool:
    """Whether the table has no room for a node of this kind."""
    size, numbers = len(state.keys), state.numbers
    if numbers[NODES] >= (NODE_PART if kind == GROUP else HAT_PART) * size:
        return True
    return kind == JOINT and numbers[JOINTS] >= JOINT_PART * size


@jit
def add_node(state: State, slot: int, kind: int) -> None:
    """A node is born; its stake is granted."""
    numbers, node = state.numbers, state.nodes[slot]
    half = 0.5 if numbers[TWO_SIDED] else 1.0
    node[:] = 0.0
    node[LAST_ASKED] = numbers[ASKED]
    node[UP_BET] = half * FRESH_BET
    if numbers[TWO_SIDED] and kind == GROUP:
        node[DOWN_BET] = 0.5 * FRESH_BET
    numbers[STAKED] += STAKE if kind == GROUP else half * STAKE
    numbers[NODES] += 1.0
    numbers[JOINTS] += 1.0 if kind == JOINT else 0.0


@jit
def bring(state: State, x: Any, keys: Any, weights: Any, column_weights: Any) -> None:
    """Copy an input and its groups to where `locate` expects them, whatever their layout."""
    here, group_keys = input_of(state), group_keys_of(state)
    for i in range(len(here)):
        here[i] = x[i]
    first = len(column_weights) - len(group_keys)
    for i in range(len(group_keys)):
        group_keys[i] = keys[i] if i < len(keys) else 0
        column_weights[first + i] = weights[i] if i < len(keys) else 0.0


@jit
def locate(state: State, peek: bool, slots: Any, weights: Any) -> None:
    """Slots and weights of all nodes: the constant, by level joint then single hats, groups."""
    group_keys, d = group_keys_of(state), dimensions_of(state)
    columns = hats_of_level(d)
    slots[:] = NO_NODE
    slots[0], weights[0] = len(state.keys), 1.0
    if d > 0 and state.numbers[MEASURED] > 0.0:
        may_add = True
        for level in range(LEVELS):
            at = 1 + level * columns
            key, complete = place_in_cell(state, level)
            if d > 1:
                single_hats(state, level, peek, slots, weights, at + d + 1)
            if complete:
                may_add = joint_hats(state, key, may_add, peek, slots, weights, at)
    for i in range(len(group_keys)):
        if group_keys[i] != 0:
            slots[1 + LEVELS * columns + i] = find(state, group_keys[i], GROUP, True, peek)


@jit
def place_in_cell(state: State, level: int) -> Any:
    """Cell, fractions and their descending order; the cell's key, and whether x is complete."""
    x, grid, (fractions, cells, order, salts) = input_of(state), grid_of(state), place_of(state)
    key, complete = np.uint64(level + 1), True
    for i in range(len(x)):
        if math.isnan(x[i]):
            fractions[i], complete = np.nan, False
            continue
        scale = level - int(grid[2, i])
        offset = ((scale + 64) * (i + 1) * 0.46653) % 1.0
        y = (x[i] - grid[0, i]) / grid[1, i] * 2.0**scale + offset
        y = min(max(y, -FARTHEST), FARTHEST)
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
def single_hats(state: State, level: int, peek: bool, slots: Any, weights: Any, start: int) -> None:
    """The two hats of each feature that is not missing."""
    grid, (fractions, cells, _, salts) = grid_of(state), place_of(state)
    for i in range(len(cells)):
        fraction = fractions[i]
        if math.isnan(fraction):
            continue
        scale = level - int(grid[2, i])
        key = np.uint64(scale + 512) * np.uint64(0x9E3779B97F4A7C15)
        key += np.uint64(salts[i]) * np.uint64(0xA0761D6478BD642F)
        for side in range(2):
            at, weight = start + 2 * i + side, fraction if side else 1.0 - fraction
            weights[at] = weight
            if weight > 0.0:
                corner = np.uint64(cells[i] + side) * np.uint64(0xE7037ED1A0B428DB)
                slots[at] = find(state, mix(key + corner, SINGLE), SINGLE, True, peek)


@jit
def joint_hats(
    state: State, key: Any, may_add: bool, peek: bool, slots: Any, weights: Any, start: int
) -> bool:
    """The corners of the simplex; whether the nearest has enough visits for a finer level."""
    fractions, _, order, salts = place_of(state)
    d = len(order)
    last, largest, visits = 1.0, 0.0, 0.0
    for k in range(d + 1):
        at, weight = start + k, last - (fractions[order[k]] if k < d else 0.0)
        weights[at] = weight
        last -= weight
        if weight > 0.0:
            slots[at] = find(state, mix(key, JOINT), JOINT, may_add, peek)
        if weight > largest:
            largest = weight
            visits = state.nodes[slots[at], VISITS] if slots[at] >= 0 else 0.0
        if k < d:
            key += np.uint64(salts[order[k]])
    return visits >= ENOUGH
