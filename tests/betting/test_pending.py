"""Pending rounds of AutoLARC: trees by node, only the nodes that exist, and states of them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import golden_files
from localarc import AutoLARC, StateError, serialization
from localarc.engine.auto import layout

GOLDEN = golden_files.GOLDEN / "pending_v4"


def told(number: int) -> tuple[float, float]:
    """The loss and the score of a ticket."""
    return float(number % 7 == 0), 0.2 + number * 37 % 50 / 50.0


def late(rounds: int, most: int, features: int = 2) -> AutoLARC:
    """A calibrator with so many pending rounds; losses arrived in no order."""
    random, cal, waiting = (
        np.random.default_rng(5),
        AutoLARC(0.1, initial_threshold=0.0),
        list[int](),
    )
    for t in range(rounds):
        waiting.append(cal.ask(random.random(features), groups=["even", "odd"][t % 2]).id)
        while len(waiting) > most:
            number = waiting.pop(int(random.integers(len(waiting))))
            cal.tell(number, *told(number))
    return cal


def test_rounds_that_were_pending_in_a_dense_state_go_on() -> None:
    """Stored when every round had a row of all columns; equal up to rounding.

    No threshold is outdated: what the base learns from those has changed since.
    """
    expected = json.loads((GOLDEN / "expected.json").read_text())
    path = GOLDEN / "auto.bin"
    cal = AutoLARC.load(path)
    golden_files.sums_agree(path, cal)
    assert len(cal.pending) == 60
    cal, rounds = AutoLARC.from_state(cal.state()), cal.rounds
    for number in expected["order"]:
        cal.tell(number, *told(number))
    node = cal._engine.node()  # type: ignore[union-attr]
    costs = node[[layout.UP_COST, layout.DOWN_COST]].tolist()
    found = [cal.threshold([i / 10, 1 - i / 10], groups="ab"[i % 2]) for i in range(10)]
    assert (cal.rounds, len(cal.pending)) == (rounds + len(expected["order"]), 0)
    stored = [float.fromhex(value) for name in ("costs", "thresholds") for value in expected[name]]
    golden_files.thresholds_agree(path, path.read_bytes(), [*costs, *found], stored, rel=1e-11)


def test_a_state_with_pending_rounds_goes_on_bit_for_bit() -> None:
    cal = late(400, 150)
    twin = AutoLARC.from_state(cal.state())
    order = np.random.default_rng(6).permutation([ticket.id for ticket in cal.pending]).tolist()
    for number in order[:-20]:
        for each in (cal, twin):
            if number % 5:
                each.tell(number, *told(number))
            else:
                each.forget(number)
            each.ask([0.5, 0.5], groups="even")
        assert twin.state() == cal.state()


def test_a_tree_of_pending_rounds_is_in_order_and_shallow() -> None:
    cal = AutoLARC(0.1, initial_threshold=0.0)
    ids = cal.ask_many(np.zeros((20_000, 0))).ids
    gone = np.random.default_rng(7).permutation(ids)[:10_000]
    cal.tell_many(gone, np.zeros(len(gone)), np.ones(len(gone)))
    engine: Any = cal._engine
    *_, links, sums = engine._arrays
    at, depth, parents = int(engine.node()[layout.NEWEST]), 0, []
    while at:
        parents.append(at)
        at = int(links[at, layout.PARENT])
    issued, stack, deepest = [], [(parents[-1], False, 1)], 0
    while stack:
        at, opened, depth = stack.pop()
        if at and not opened:
            left, right = (int(links[at, side]) for side in (layout.LEFT, layout.RIGHT))
            stack += [(right, False, depth + 1), (at, True, depth), (left, False, depth + 1)]
        elif at:
            issued.append(int(sums[at, layout.ISSUE]))
            deepest = max(deepest, depth)
    assert issued == [ticket.id for ticket in cal.pending]
    assert deepest <= 5 * math.log(10_000)  # 2 ln n is expected


def test_a_round_has_entries_for_nodes_that_exist_only() -> None:
    cal = AutoLARC(0.1, initial_threshold=0.0)
    random = np.random.default_rng(8)
    cal.ask_many(random.normal(size=(200, 20)))
    engine: Any = cal._engine
    ticket = engine.pending_bytes / 200
    assert ticket < 25_000  # of 367 columns of 120 bytes
    assert engine.arrays()["pending_counts"][0] == 1  # before the grids are measured


def test_entries_that_were_given_back_are_used_again() -> None:
    cal = late(2000, 20)
    engine: Any = cal._engine
    assert len(engine._arrays[9]) <= 4 * 21 * engine.columns


# ---- states that no run leaves ---------------------------------------------------------------

NOT_FINITE = math.nan, math.inf, -math.inf


def test_no_number_of_a_state_is_accepted_that_no_run_leaves() -> None:
    cal = late(100, 10)
    kind, content, arrays = serialization.decode(cal.state())
    accepted = []
    for name, array in arrays.items():
        for at in range(array.size):
            for value in (
                (-(2**62),) if array.dtype.kind == "i" else (math.nan, math.inf, -math.inf)
            ):
                if array.flat[at] == value or may_be(name, at, value):
                    continue
                changed = array.copy()
                changed.flat[at] = value
                data = serialization.encode(kind, content, {**arrays, name: changed})
                try:
                    AutoLARC.from_state(data)
                except StateError:
                    continue
                accepted.append((name, at, value))
    assert accepted == []


def may_be(name: str, at: int, value: float) -> bool:
    """What a run can leave: inputs that are missing, grids without a width, no limit."""
    if name == "numbers":
        inputs = at >= layout.GRID + 3 * 2 and math.isnan(value)
        width = layout.GRID + 2 <= at < layout.GRID + 4 and value == math.inf
        costliest = at == layout.COSTLIEST and math.isinf(value)
        return inputs or width or costliest or (at == layout.SMALLEST_UNIT and value > 0.0)
    column = at % layout.TICKET
    if name != "tickets" or column in {layout.LOCAL_MEAN, layout.FREE_BASE}:
        return name == "tickets"
    if column == layout.GIVEN:
        return math.isnan(value)
    unbounded = {layout.BASE, layout.ITS_FLOOR, layout.THRESHOLD}
    return column in unbounded and math.isinf(value)


@pytest.mark.parametrize("label", [["a"], [["a"]], {"list": 1}, {"missing": "x"}, {"tuple": "ab"}])
def test_what_is_no_group_is_a_state_error(label: Any) -> None:
    cal = AutoLARC(0.1).update([0.0], 0.0, 1.0, groups="a")
    kind, content, arrays = serialization.decode(cal.state())
    data = serialization.encode(kind, content | {"groups": [label]}, arrays)
    with pytest.raises(StateError, match="damaged"):
        AutoLARC.from_state(data)


def test_a_feature_that_no_float_can_be_is_named() -> None:
    cal = AutoLARC(0.1).update([0.0], 0.0, 1.0)
    for call in (cal.threshold, lambda x: cal.ask_many([x])):
        with pytest.raises(ValueError, match=r"[xX] must be finite, at most 1e\+100"):
            call([10**400])
