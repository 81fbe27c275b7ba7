"""Stored arrays of an AutoEngine: those of earlier versions, and whether they make sense."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localarc.constants import LEVELS
from localarc.engine.auto import layout
from localarc.engine.auto.nodes import JOINT, KIND_SHIFT
from localarc.engine.step import check_shapes, require
from localarc.engine.tiles import FloatArray, IntArray

if TYPE_CHECKING:
    from localarc.engine.auto.engine import Rules

SHARES = "pending_shares"  # of states that stored no R, see `arrivals`

_NOT_NEGATIVE = [
    *(layout.VISITS, layout.WEIGHT_PENDING, layout.MOST_WEIGHT, layout.LAST_ASKED),
    *(layout.UP_GAIN, layout.UP_COST, layout.UP_BET),
]
_SHARES = [layout.UP_SHARE, layout.DOWN_SHARE]
_COUNTS = [
    *(layout.SCORES, layout.ASKED, layout.ISSUED, layout.PENDING, layout.MOST_PENDING),
    *(layout.NODES, layout.JOINTS, layout.MEASURED, layout.ROUNDS, layout.SWEPT),
    *(layout.CEILING_FAILS, layout.CEILING_SINCE, layout.FLOOR_FAILS, layout.FLOOR_SINCE),
    *(layout.REFUSED_HATS, layout.REFUSED_GROUPS, layout.EVICTED_HATS, layout.EVICTED_GROUPS),
    layout.UNINFORMED,
]
_SUMS = [
    *(layout.DEVIATION, layout.UNIT, layout.CLOCK, layout.AWAY, layout.STAKED),
    *(layout.UP_INVERSE, layout.LOST_UP, layout.LOST_DOWN, layout.SMALLEST_UNIT),
]
_INFINITE = [layout.FLOOR, layout.CEILING, layout.MEAN, layout.SMALLEST_UNIT, layout.COSTLIEST]


def upgraded(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state as it is stored now; earlier ones had a row of all columns for each round."""
    slots = arrays["pending_slots"]
    if "pending_counts" in arrays:
        return arrays
    late = arrays["pending_late"]
    if late.ndim == 3 and late.shape[2] == 6:  # once, rounds kept what had arrived, not totals
        left, sums = late[:, :, 1:2], late[:, :, 2:]
        before = -np.concatenate([late[:, :, :1] - left, sums], axis=2)  # the totals are 0
        late = np.concatenate([late[:, :, :1], before, np.zeros_like(before)], axis=2)
    rows = slots.shape
    check_shapes(
        {**arrays, "pending_late": late},
        pending_slots=(len(arrays["tickets"]), rows[-1]),
        pending_weights=rows,
        pending_late=(*rows, 1 + 2 * layout.TOTALS),
    )
    there = slots >= 0
    slots, late = slots[there], late[there]
    seen, before, totals = np.split(late, [1, 1 + layout.TOTALS], axis=1)
    return {
        **arrays,
        "pending_counts": there.sum(axis=1),
        "pending_columns": np.nonzero(there)[1],
        "pending_slots": slots,
        "pending_weights": arrays["pending_weights"][there],
        "pending_late": np.concatenate([seen, np.zeros_like(before)], axis=1),
        SHARES: _shares(slots, before, totals),
    }


def _shares(slots: IntArray, before: FloatArray, totals: FloatArray) -> FloatArray:
    """What arrived between a round and the next one of its node; totals are those of the newest."""
    order = np.argsort(slots, kind="stable")
    last = np.ones(len(slots), bool)
    last[:-1] = np.diff(slots[order]) != 0
    newest = order[last][np.cumsum(last) - last]  # of each entry's node
    since = totals[newest] - before[order]
    since[~last] -= since[1:][~last[:-1]]
    shares: FloatArray = np.empty_like(since)
    shares[order] = since
    return shares


def check(arrays: Mapping[str, Any], rules: Rules, dimensions: int) -> None:
    """Raise ValueError unless a run could have left these arrays: compiled loops check nothing."""
    numbers, tickets = arrays["numbers"], arrays["tickets"]
    count, entries = len(arrays["used"]), len(arrays["pending_slots"])
    check_shapes(
        arrays,
        numbers=(layout.lasting(dimensions),),
        used=(count,),
        keys=(count,),
        nodes=(count + 1, layout.COLUMNS),
        pending_counts=(len(tickets),),
        pending_columns=(entries,),
        pending_slots=(entries,),
        pending_weights=(entries,),
        pending_late=(entries, layout.LATE),
        tickets=(len(tickets), layout.TICKET),
    )
    values = rules.numbers()
    settings = [values[i] for i in range(layout.SETTINGS)]
    same = bool((numbers[: layout.SETTINGS] == settings).all())
    require(same, "it was made with other settings")
    _check_table(arrays, rules.slots)
    _check_numbers(numbers, rules.loss_bound, dimensions)
    _check_tickets(tickets, arrays["pending_counts"] > 0, numbers, rules.own_base)
    _check_entries(arrays, rules.slots, dimensions)


def _check_table(arrays: Mapping[str, Any], size: int) -> None:
    numbers, used, keys, nodes = (arrays[name] for name in ("numbers", "used", "keys", "nodes"))
    count = len(used)
    require(count < size, f"it has {count} nodes in a table of {size}")
    require(bool((np.diff(used) > 0).all()), "its slots are not ascending")
    require(count == 0 or bool(used[0] >= 0 and used[-1] < size), "its slots do not exist")
    require(bool((keys > 0).all()), "its keys are not positive")
    require(bool(np.isfinite(nodes).all()), "its sums are not finite")
    require(bool((nodes[:, _NOT_NEGATIVE] >= 0.0).all()), "a node makes no sense")
    kinds = (keys >> KIND_SHIFT) - 1
    joints = int((kinds == JOINT).sum())
    counted = numbers[layout.NODES] == count and numbers[layout.JOINTS] == joints
    require(bool(counted), "it counts other nodes")


def _check_numbers(numbers: FloatArray, bound: float, dimensions: int) -> None:
    grid = numbers[layout.GRID : layout.GRID + 3 * dimensions].reshape(3, dimensions)
    kept = numbers[layout.GRID + 3 * dimensions :]
    plain = np.delete(numbers[: layout.GRID], _INFINITE)
    finite = [plain, grid[[0, 2]], kept[~np.isnan(kept)]]  # a missing feature is kept as NaN
    require(all(bool(np.isfinite(part).all()) for part in finite), "its numbers are not finite")
    require(not np.isnan(numbers[_INFINITE]).any(), "its numbers are not finite")
    unknown = numbers[layout.MEAN] == np.inf and numbers[layout.SCORES] == 0.0
    require(bool(unknown or np.isfinite(numbers[layout.MEAN])), "its mean is not finite")
    require(bool((grid[1] > 0.0).all()), "a grid has no width")
    require(bool((numbers[_SUMS] >= 0.0).all()), "a sum is below 0")
    counts, rounds = numbers[_COUNTS], numbers[layout.ROUNDS]
    whole = bool((counts >= 0.0).all() and (counts == np.floor(counts)).all())
    require(whole and bool(rounds <= numbers[layout.ISSUED]), "its counts make no sense")
    apart, lost = numbers[layout.UNINFORMED], numbers[layout.UNINFORMED_LOSSES]
    sound = apart <= rounds and 0.0 <= lost <= numbers[layout.LOSS_SUM] * (1.0 + 1e-9)
    require(bool(sound), "its rounds apart make no sense")
    total, most = numbers[layout.LOSS_SUM], bound * rounds
    require(bool(0.0 <= total <= most * (1.0 + 1e-9)), "its losses do not add up")
    require(bool(numbers[layout.LOWEST] <= numbers[layout.HIGHEST]), "its scores are reversed")
    require(bool(numbers[layout.UNIT] > 0.0), "its unit is not positive")


def _check_tickets(
    tickets: FloatArray, informed: NDArray[np.bool_], numbers: FloatArray, own_base: bool
) -> None:
    issued = tickets[:, layout.NUMBER]
    whole = bool((issued == np.floor(issued)).all() and (issued >= 1.0).all())
    require(whole and bool((np.diff(issued) > 0).all()), "its tickets are not in order")
    require(numbers[layout.PENDING] == len(tickets), "it counts other pending rounds")
    require(bool((issued <= numbers[layout.ISSUED]).all()), "a ticket is too new")
    known = tickets[:, [layout.BASE, layout.ITS_FLOOR, layout.THRESHOLD]]
    require(not np.isnan(known).any(), "a threshold is not a number")
    bases = tickets[informed, layout.BASE]
    require(bool(np.isfinite(bases).all()), "a base is not finite")
    given = np.isnan(tickets[:, layout.GIVEN])
    require(bool((given == own_base).all()), "a base is not a number")
    units = tickets[:, layout.ITS_UNIT]
    require(bool(((units > 0.0) & (units < np.inf)).all()), "a unit is not positive")
    _require_share(tickets[:, _SHARES])
    counts = tickets[:, [layout.SCORES_KNOWN, layout.PENDING_BEFORE]]
    most = numbers[[layout.SCORES, layout.MOST_PENDING]]
    sound = (counts >= 0.0) & (counts <= most) & (counts == np.floor(counts))
    require(bool(sound.all()), "the counts of a ticket make no sense")


def _check_entries(arrays: Mapping[str, Any], size: int, dimensions: int) -> None:
    counts, columns = arrays["pending_counts"], arrays["pending_columns"]
    adds_up = bool((counts >= 0).all()) and counts.sum() == len(columns)
    require(adds_up, "its pending rounds have other nodes")
    width = 1 + LEVELS * layout.hat_columns(dimensions) + 2**16
    require(bool(((columns >= 0) & (columns < width)).all()), "a pending node has no column")
    first = np.zeros(len(columns), bool)
    starts = np.cumsum(counts) - counts
    first[starts[counts > 0]] = True
    ascending = first[1:] | (np.diff(columns) > 0)
    require(bool(ascending.all()), "the nodes of a pending round are not in order")
    known = np.isin(arrays["pending_slots"], [size, *arrays["used"].tolist()])
    require(bool(known.all()), "its pending rounds name nodes that do not exist")
    late = arrays["pending_late"]
    require(bool(np.isfinite(late).all()), "its sums are not finite")
    require(bool((late[:, layout.SEEN] >= 0.0).all()), "a pending weight is < 0")
    require(bool(np.isfinite(arrays.get(SHARES, late)).all()), "its sums are not finite")
    _require_share(arrays["pending_weights"])


def _require_share(values: FloatArray) -> None:
    require(bool(((values >= 0.0) & (values <= 1.0)).all()), "a share is not in [0, 1]")
