"""Pending rounds as they are stored: tickets, and the nodes of one after those of the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from localarc.betting.compiled.arrivals import append, share_in
from localarc.betting.compiled.ledger import gather
from localarc.engine.addresses import table_of
from localarc.engine.auto import layout
from localarc.engine.auto.layout import unpack
from localarc.engine.numba_tools import strict_jit
from localarc.engine.tiles import FloatArray, IntArray


class Pending(NamedTuple):
    """The pending rounds in order of prediction, and the entries of all of them."""

    tickets: FloatArray  # (rounds, TICKET)
    pending_counts: IntArray  # (rounds,): how many entries each has
    pending_columns: IntArray  # (entries,)
    pending_slots: IntArray
    pending_weights: FloatArray
    pending_late: FloatArray  # (entries, LATE): what was pending, and R of `arrivals`


def gathered(arrays: tuple[Any, ...], rows: IntArray) -> Pending:
    """The pending rounds in these rows."""
    *_, tickets, _, links, sums = arrays
    counts = np.zeros(len(rows), np.int64)
    entries = np.empty(int(links[0, layout.USED]), np.int64)
    _entries_of(table_of(arrays), rows, counts, entries)
    found = links[entries].astype(np.int64)
    columns, slots = found[:, layout.COLUMN], found[:, layout.SLOT]
    late = sums[entries, layout.SUMS - 1 :]
    return Pending(tickets[rows], counts, columns, slots, sums[entries, layout.WEIGHT], late)


def place(arrays: tuple[Any, ...], pending: Pending, shares: FloatArray | None = None) -> None:
    """Enter pending rounds, in order of prediction, into arrays with enough rows and entries.

    Shares are those of a state that stored no R, see `arrivals`.
    """
    *_, tickets, chains, links, sums = arrays
    ends = np.cumsum(pending.pending_counts)
    starts = np.where(pending.pending_counts, 1 + ends - pending.pending_counts, 0)
    for start, ticket in zip(starts.tolist(), pending.tickets, strict=True):
        row = 1 + int(ticket[layout.NUMBER]) % (len(tickets) - 1)
        while tickets[row, layout.NUMBER]:
            row = 1 + row % (len(tickets) - 1)
        tickets[row], chains[row] = ticket, start
    used = len(pending.pending_slots)
    links[0, layout.UNUSED], links[0, layout.USED] = 1 + used, used
    mine, its_sums = links[1 : 1 + used], sums[1 : 1 + used]
    mine[:, layout.SLOT], mine[:, layout.COLUMN] = pending.pending_slots, pending.pending_columns
    mine[:, layout.CHAINED] = np.arange(2, used + 2)
    mine[ends[ends > 0] - 1, layout.CHAINED] = 0
    its_sums[:, layout.ISSUE] = np.repeat(pending.tickets[:, layout.NUMBER], pending.pending_counts)
    its_sums[:, layout.WEIGHT] = pending.pending_weights
    its_sums[:, layout.SUMS - 1 :] = pending.pending_late
    _relink(table_of(arrays))
    if shares is not None:
        _add_shares(table_of(arrays), shares)


def relink(table: Any) -> None:
    """Build the trees of pending rounds anew, from entries in order of prediction."""
    state, ledger = unpack(table)
    for slot in range(len(state.nodes)):
        state.nodes[slot, layout.NEWEST] = 0.0
    for entry in range(1, ledger.links[0, layout.UNUSED]):
        append(ledger, state.nodes[ledger.links[entry, layout.SLOT]], entry)


def add_shares(table: Any, shares: Any) -> None:
    """Add the shares of all entries, one after the other."""
    _, ledger = unpack(table)
    for i in range(len(shares)):
        share_in(ledger, 1 + i, shares[i])


def entries_of(table: Any, rows: Any, counts: Any, entries: Any) -> None:
    """`gather`, for Python."""
    _, ledger = unpack(table)
    gather(ledger, rows, counts, entries)


_relink: Any = strict_jit(relink)
_add_shares: Any = strict_jit(add_shares)
_entries_of: Any = strict_jit(entries_of)
