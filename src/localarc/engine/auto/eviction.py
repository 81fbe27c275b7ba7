"""Eviction: a full table drops nodes that no round has visited for as many rounds as it has slots.

Dropping a node takes something positive out of the sum that theorem E bounds, so everything else
stays guaranteed; a node that comes back is granted a new stake.
"""

from typing import Any

import numpy as np

from localarc.engine.auto.layout import (
    ASKED,
    EVICTED_GROUPS,
    EVICTED_HATS,
    JOINTS,
    LAST_ASKED,
    NEWEST,
    NO_NODE,
    NODES,
    SLOT,
    SWEPT,
    UNUSED,
    Ledger,
    State,
    jit,
    variable,
)
from localarc.engine.auto.nodes import GROUP, JOINT, is_full, kind_of


@jit
def sweep_if_full(state: State, ledger: Ledger) -> None:
    """Evict idle nodes from a full table, at most once in as many rounds as it has slots."""
    numbers = state.numbers
    if numbers[ASKED] - numbers[SWEPT] < len(state.keys) or not is_full(
        len(state.keys), numbers, variable(JOINT)
    ):
        return
    numbers[SWEPT] = numbers[ASKED]
    moves = evict_idle(state)
    for i in range(len(ledger.slots)):
        if ledger.slots[i] >= 0:
            ledger.slots[i] = moves[ledger.slots[i]]
    for entry in range(1, ledger.links[0, UNUSED]):
        if ledger.links[entry, SLOT] >= 0:
            ledger.links[entry, SLOT] = moves[ledger.links[entry, SLOT]]


@jit
def evict_idle(state: State) -> Any:
    """Keep recent nodes and those with pending rounds; where each slot's node is now."""
    size = len(state.keys)
    keys, nodes, moves = state.keys.copy(), state.nodes.copy(), np.empty(size + 1, np.int64)
    moves[size] = size
    state.keys[:] = 0
    oldest = state.numbers[ASKED] - size
    for slot in range(size):
        moves[slot] = NO_NODE
        if keys[slot] == 0:
            continue
        if nodes[slot, NEWEST] != 0.0 or nodes[slot, LAST_ASKED] >= oldest:
            moves[slot] = insert(state, keys[slot], nodes[slot])
        else:
            count_evicted(state.numbers, kind_of(keys[slot]))
    return moves


@jit
def insert(state: State, key: Any, node: Any) -> Any:
    """Put a node into the table."""
    mask = len(state.keys) - 1
    slot = key & mask
    while state.keys[slot] != 0:
        slot = (slot + 1) & mask
    state.keys[slot] = key
    for i in range(len(node)):
        state.nodes[slot, i] = node[i]
    return slot


@jit
def count_evicted(numbers: Any, kind: int) -> None:
    """One node less."""
    numbers[NODES] -= 1.0
    numbers[JOINTS] -= 1.0 if kind == JOINT else 0.0
    numbers[EVICTED_GROUPS if kind == GROUP else EVICTED_HATS] += 1.0
