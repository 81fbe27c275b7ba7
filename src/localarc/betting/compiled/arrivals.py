"""What has arrived at a node since a threshold went out: sums over earlier rounds, in O(log n).

The pending rounds of a node form a binary search tree in order of prediction: a heap, too, by
priorities that are hashes of ticket numbers. So its shape depends on nothing but the rounds in it,
it is about 2 ln n deep, and a state continues bit for bit. Each round has a share f of what arrived
(the newest has it all, at first), such that the shares of a round and of all later ones add up to
what arrived since its threshold went out, of earlier rounds. Stored is R = f + the shares in the
right subtree. Entry 0 is no round.
"""

from typing import Any

import numpy as np

from localarc.engine.auto.layout import (
    ARRIVED,
    ISSUE,
    LEFT,
    NEWEST,
    PARENT,
    RIGHT,
    SUMS,
    TOTALS,
    Ledger,
    jit,
)

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@jit
def newest_of(node: Any) -> int:
    """The newest pending round at a node, 0 if there is none."""
    return int(node[NEWEST])


@jit
def priority(ledger: Ledger, entry: int) -> Any:
    """A number that looks random, and follows from the ticket's."""
    mixed = np.uint64(np.int64(ledger.sums[entry, ISSUE])) * _MIX
    mixed = (mixed ^ (mixed >> _HALF)) * _MIX
    return mixed ^ (mixed >> _HALF)


@jit
def append(ledger: Ledger, node: Any, entry: int) -> None:
    """A round is pending at a node, after all others there."""
    links, mine = ledger.links, priority(ledger, entry)
    below, at = 0, newest_of(node)
    while at > 0 and priority(ledger, at) < mine:
        below, at = at, int(links[at, PARENT])
    links[entry, PARENT], links[entry, RIGHT] = at, 0
    attach(ledger, entry, LEFT, below)
    if at > 0:
        links[at, RIGHT] = entry
    node[NEWEST] = entry


@jit
def attach(ledger: Ledger, owner: int, side: int, child: int) -> None:
    """Make an entry the child of another; 0 for none, or for no owner."""
    if owner > 0:
        ledger.links[owner, side] = child
    if child > 0:
        ledger.links[child, PARENT] = owner


@jit
def arrived_since(ledger: Ledger, entry: int, late: Any) -> bool:
    """Put what has arrived since a round's threshold went out, of earlier rounds, into `late`.

    Returns whether earlier rounds are pending.
    """
    links, sums = ledger.links, ledger.sums
    earlier = links[entry, LEFT] > 0
    for k in range(TOTALS):
        late[ARRIVED + k] = sums[entry, SUMS + k]
    below, at = entry, int(links[entry, PARENT])
    while at > 0:
        if links[at, LEFT] == below:
            for k in range(TOTALS):
                late[ARRIVED + k] += sums[at, SUMS + k]
        else:
            earlier = True
        below, at = at, int(links[at, PARENT])
    return earlier  # type: ignore[no-any-return]


@jit
def change(ledger: Ledger, entry: int, sign: float, step: Any) -> None:
    """Add to R of one entry."""
    for k in range(TOTALS):
        ledger.sums[entry, SUMS + k] += sign * step[k]


@jit
def share_in(ledger: Ledger, entry: int, step: Any) -> None:
    """Add to the share of a round."""
    links = ledger.links
    change(ledger, entry, 1.0, step)
    below, at = entry, int(links[entry, PARENT])
    while at > 0:
        if links[at, RIGHT] == below:
            change(ledger, at, 1.0, step)
        below, at = at, int(links[at, PARENT])


@jit
def depart(ledger: Ledger, node: Any, entry: int, step: Any, earlier: bool) -> None:
    """A round leaves; later ones note what it has added to the node, earlier ones, if any, do not.

    The newest one gets that as a share, and the one before the round a negative one, and the share
    of the round. Above the lowest common ancestor of both, R stays as it is.
    """
    links, rest = ledger.links, ledger.sums[0, SUMS : SUMS + TOTALS]
    for k in range(TOTALS):
        rest[k] = ledger.sums[entry, SUMS + k]
    newest = newest_of(node)
    if newest == entry:
        node[NEWEST] = one_before(ledger, entry)
    else:
        issued = ledger.sums[entry, ISSUE]
        top, at = 0, newest
        while at > 0 and ledger.sums[at, ISSUE] > issued:
            change(ledger, at, 1.0, step)
            top, at = at, int(links[at, PARENT])
        if earlier and at != entry:
            below, at = entry, int(links[entry, PARENT])
            while at != top:
                if links[at, RIGHT] == below:
                    change(ledger, at, -1.0, step)
                below, at = at, int(links[at, PARENT])
            for k in range(TOTALS):
                rest[k] -= step[k]
    remove(ledger, entry, rest)


@jit
def one_before(ledger: Ledger, newest: int) -> int:
    """The round before the newest one of a node."""
    links = ledger.links
    at = int(links[newest, LEFT])
    if at == 0:
        return int(links[newest, PARENT])
    while links[at, RIGHT] > 0:
        at = int(links[at, RIGHT])
    return at


@jit
def remove(ledger: Ledger, entry: int, rest: Any) -> None:
    """Merge the subtrees of an entry in its place.

    `rest` is what the earlier subtree's right edge gains while all of the later one is below it.
    """
    links = ledger.links
    left, right = int(links[entry, LEFT]), int(links[entry, RIGHT])
    owner, side = int(links[entry, PARENT]), LEFT
    if owner > 0 and links[owner, RIGHT] == entry:
        side = RIGHT
    while left > 0 and right > 0:
        if priority(ledger, left) >= priority(ledger, right):
            change(ledger, left, 1.0, rest)
            attach(ledger, owner, side, left)
            owner, side, left = left, RIGHT, int(links[left, RIGHT])
        else:
            for k in range(TOTALS):
                rest[k] -= ledger.sums[right, SUMS + k]
            attach(ledger, owner, side, right)
            owner, side, right = right, LEFT, int(links[right, LEFT])
    attach(ledger, owner, side, max(left, right))
    while left > 0:
        change(ledger, left, 1.0, rest)
        left = int(links[left, RIGHT])
