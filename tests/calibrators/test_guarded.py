"""Batches: bit for bit what single calls do, and all of it or nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc import ARC, AutoLARC, Safeguard
from localarc.calibrators.auto.groups import MOST_COMBINATIONS, NO_GROUPS, GroupNames
from localarc.calibrators.tickets import Ticket, TicketError, Tickets

INF = math.inf
MAKERS: dict[str, Callable[[], Any]] = {
    "AutoLARC": lambda: AutoLARC(0.2, loss_bound=2.0),
    "limits": lambda: AutoLARC(0.1, limits=(0.0, 5.0), promise="at most", unit=1.0),
    "a full table": lambda: AutoLARC(0.1, max_bytes=40_000),
    "Safeguard": lambda: Safeguard(ARC(0.1, rate=0.3)),
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
GROUPS: list[Any] = [
    ["region=north", "sex=f"],
    ["sex=f", "region=north"],
    {"region=south": 0.5, "sex=m": 1.0},
    {"sex=m", 3},
    ("one", "label"),
    "sex=f",
    np.int64(3),
    (),
    None,
]


def stream(seed: int, n: int, d: int = 2) -> tuple[Any, Any, list[Any]]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** np.arange(d)
    X[random.random((n, d)) < 0.1] = np.nan
    scores = np.abs(random.normal(size=n)) * 2.0
    scores[random.random(n) < 0.05] = -INF
    scores[random.random(n) < 0.02] = INF
    return X, scores, [GROUPS[i] for i in random.integers(len(GROUPS), size=n)]


def single(labels: Any) -> Any:
    return () if labels is None else labels


@each
def test_cover_is_threshold_and_update_for_each_row(make: Any) -> None:
    X, scores, groups = stream(1, 300)
    batched, stepped = make(), make()
    first = [batched.cover(X[:37], scores[:37], groups[:37])]
    thresholds, losses = np.hstack([*first, batched.cover(X[37:], scores[37:], groups[37:])])
    for t, x in enumerate(X):
        threshold = stepped.threshold(x, single(groups[t]))
        loss = stepped.loss_bound if scores[t] > threshold else 0.0
        stepped.update(x, loss, scores[t], single(groups[t]))
        assert (thresholds[t], losses[t]) == (threshold, loss)
    assert batched.state() == stepped.state()


@each
def test_what_was_shown_is_charged_and_the_score_is_learned(make: Any) -> None:
    X, scores, groups = stream(2, 200)
    shown = np.random.default_rng(3).uniform(0.0, 9.0, size=200)
    shown[::5] = -INF
    batched, stepped, written = make(), make(), np.empty(200)
    thresholds, losses = batched.cover(X, scores, groups, at_least=shown, out=written)
    assert thresholds is written
    for t, x in enumerate(X):
        threshold = stepped.threshold(x, single(groups[t]))
        loss = stepped.loss_bound if scores[t] > max(threshold, shown[t]) else 0.0
        stepped.update(x, loss, scores[t], single(groups[t]))
        assert (thresholds[t], losses[t]) == (threshold, loss)
    assert ((losses == 0.0) & (scores > thresholds)).any()


@pytest.mark.slow
@each
@given(seed=st.integers(0, 10**6))
def test_batches_of_tickets_are_single_tickets(make: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    X, scores, groups = stream(seed, 60)
    batched, stepped = make(), make()
    batched.cover(X[:20], scores[:20]), stepped.cover(X[:20], scores[:20])
    pending: list[int] = []
    for start in range(0, 60, 12):
        part = slice(start, start + 12)
        tickets = batched.ask_many(X[part], groups[part])
        alone = [stepped.ask(x, single(g)) for x, g in zip(X[part], groups[part], strict=True)]
        assert [*tickets] == alone
        assert len(tickets) == 12
        pending = random.permutation([*pending, *tickets.ids]).tolist()
        told, dropped, pending = np.array(pending[:8]), pending[8:10], pending[10:]
        known = np.where(random.random(8) < 0.2, np.nan, scores[told % 60])
        losses = random.uniform(0.0, batched.loss_bound, size=8)
        batched.tell_many(told, losses, known).forget_many(dropped)
        for number, loss, score in zip(told, losses, known, strict=True):
            stepped.tell(int(number), loss, None if np.isnan(score) else score)
        for number in dropped:
            stepped.forget(number)
    assert batched.pending == stepped.pending
    batched.forget_many(batched.pending), stepped.forget_many(stepped.pending)
    assert batched.state() == stepped.state()


@each
def test_thresholds_of_many_inputs_are_those_of_each_and_change_nothing(make: Any) -> None:
    X, scores, groups = stream(4, 250)
    cal = make()
    cal.cover(X[:200], scores[:200], groups[:200])
    tickets = cal.ask_many(X[:5], groups[:5])
    before = cal.forget_many(tickets).state()
    others = [*groups[200:249], "never seen"]
    alone = [cal.threshold(x, single(g)) for x, g in zip(X[200:], others, strict=True)]
    assert cal.threshold(X[200:], others).tolist() == alone
    assert cal.threshold(X[200:]).tolist() == [cal.threshold(x) for x in X[200:]]
    assert cal.state() == before


def test_inputs_may_be_empty_and_batches_too() -> None:
    cal, twin = AutoLARC(0.1), AutoLARC(0.1)
    none = np.empty((0, 2))
    assert len(cal.ask_many(none)) == 0
    assert len(cal.threshold(none)) == len(cal.cover(none, [])[0]) == 0
    cal.tell_many([], []).forget_many([])
    assert cal.state() == twin.state()
    scores = np.random.default_rng(0).random(40)
    thresholds, _ = cal.cover(None, scores)  # the number of features is still open
    assert thresholds[-1] == twin.cover(np.empty((40, 0)), scores)[0][-1]


@each
def test_tickets_are_told_and_forgotten_all_or_none(make: Any) -> None:
    X, scores, groups = stream(5, 80)
    cal = make()
    cal.cover(X[:60], scores[:60], groups[:60])
    tickets = cal.ask_many(X[60:], groups[60:])
    cal.tell(int(tickets.ids[7]), 0.0, 1.0)
    pending, rounds, threshold = cal.pending, cal.rounds, cal.threshold(X[0])
    bound = cal.loss_bound
    wrong: list[tuple[Any, Any, Any, Any]] = [
        (tickets, np.zeros(20), None, "ticket 68 is not pending"),
        (tickets.ids[[0, 1, 0]], np.zeros(3), None, "ticket 61 is there more than once"),
        (tickets.ids[:2], [0.0, bound + 1.0], None, "in row 1"),
        (tickets.ids[:2], [0.0, math.nan], None, "losses must be finite"),
        (tickets.ids[:2], [0.0], None, "losses must have 2 numbers"),
        (tickets.ids[:2], [0.0, 0.0], [1.0], "scores must have 2 numbers"),
        (tickets.ids[:2], [0.0, 0.0], [1.0, 1e200], "in row 1"),
        (tickets.ids[:2], [0.0, 0.0], ["a", "b"], "scores must contain only numbers"),
        ([1.5], [0.0], None, "ticket must be a whole number"),
        ([999], [0.0], None, "ticket 999 is not pending"),
    ]
    for numbers, losses, told, message in wrong:
        with pytest.raises((TypeError, ValueError, TicketError), match=message):
            cal.tell_many(numbers, losses, told)
    with pytest.raises(TicketError, match="ticket 68 is not pending"):
        cal.forget_many(tickets)
    assert (cal.pending, cal.rounds, cal.threshold(X[0])) == (pending, rounds, threshold)


@each
def test_a_batch_with_a_bad_row_changes_nothing(make: Any) -> None:
    X, scores, groups = stream(6, 40)
    cal = make()
    cal.cover(X, scores, groups)
    before = cal.state()
    bad_groups = [*groups[:39], ["fine", ["not a label"]]]
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: cal.ask_many(X, bad_groups), "a group must be text"),
        (lambda: cal.ask_many(X, groups[:3]), "groups must have one entry per round"),
        (lambda: cal.ask_many(X[:, :1]), "inputs must have 2 feature"),
        (lambda: cal.ask_many([[0.0, INF]]), "X must be finite"),
        (lambda: cal.threshold(X, bad_groups), "a group must be text"),
        (lambda: cal.cover(X, scores, bad_groups), "a group must be text"),
        (lambda: cal.cover(X, scores[:3]), "scores must have one entry per round"),
        (lambda: cal.cover(X, [*scores[:39], math.nan]), "scores must be known, got NaN in row 39"),
        (lambda: cal.cover(X, scores, at_least=[0.0]), "at_least must have 40 numbers"),
        (lambda: cal.cover(X, scores, at_least=[math.nan] * 40), "at_least must be known"),
        (lambda: cal.cover(X, scores, out=np.empty(39)), "out must be an array of 40 float64"),
        (lambda: cal.cover(X, scores, out=np.empty(80)[::2]), "out must be contiguous"),
    ]
    for call, message in wrong:
        with pytest.raises(ValueError, match=message):
            call()
        assert cal.state() == before


def test_a_bad_group_is_named_by_its_row() -> None:
    with pytest.raises(ValueError, match="a group must be text") as caught:
        AutoLARC(0.1).ask_many(np.zeros((3, 1)), ["a", "b", math.nan])
    assert caught.value.__notes__ == ["in row 2, counted from 0; nothing was learned."]


def test_unknown_scores_need_a_unit_until_one_is_known() -> None:
    cal = AutoLARC(0.1)
    tickets = cal.ask_many(np.zeros((3, 1)))
    for scores in (None, [math.nan, 1.0, 1.0], [INF, math.nan, 1.0]):
        with pytest.raises(ValueError, match="thresholds have no unit"):
            cal.tell_many(tickets, np.zeros(3), scores)
    assert cal.rounds == 0
    assert cal.tell_many(tickets, np.zeros(3), [1.0, math.nan, INF]).rounds == 3


def test_a_base_that_fails_leaves_every_ticket_pending() -> None:
    class Fails(ARC):
        def update(self, x: Any, loss: float, *more: Any, **others: Any) -> Any:
            if loss == 0.5:
                raise RuntimeError("the base failed")
            return super().update(x, loss)

    cal = Safeguard(Fails(0.1))
    tickets = cal.ask_many(np.zeros((3, 1)))
    before, constant = cal.pending, cal.base.threshold(None)  # type: ignore[union-attr]
    with pytest.raises(RuntimeError, match="the base failed"):
        cal.tell_many(tickets, [1.0, 0.5, 0.0], np.ones(3))
    assert cal.pending == before
    assert cal.base.threshold(None) == constant  # type: ignore[union-attr]
    assert cal.tell_many(tickets, [1.0, 1.0, 0.0], np.ones(3)).rounds == 3


def test_tickets_are_arrays_and_single_tickets() -> None:
    tickets = Tickets(np.array([3, 1]), np.array([0.5, 0.25]))
    assert [*tickets] == [Ticket(3, 0.5), Ticket(1, 0.25)]
    with pytest.raises(ValueError, match="one threshold per id"):
        Tickets(np.array([3, 1]), np.array([0.5]))


def test_known_labels_are_not_hashed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cal = AutoLARC(0.1)
    cal.update([0.0], 0.0, 1.0, ["region=north", "sex=f"])
    cal.update([0.0], 0.0, 1.0, "region=south")

    def refuse(label: Any) -> int:
        raise AssertionError(f"{label!r} was hashed again")

    monkeypatch.setattr("localarc.calibrators.auto.groups.key_of", refuse)
    for groups in (["region=north", "sex=f"], ["region=south", "sex=f"], {"sex=f": 0.5}, "sex=f"):
        cal.threshold([0.0], groups)
        cal.update([0.0], 0.0, 1.0, groups)
    rows: list[Any] = [["region=north"], {"region=south"}, "sex=f"]
    cal.ask_many(np.zeros((3, 1)), rows)


def test_combinations_that_are_kept_are_bounded() -> None:
    names = GroupNames(range(100))
    for i in range(2 * MOST_COMBINATIONS):
        names.add([([i % 100, (i // 100) % 100], ())], NO_GROUPS[0])
    assert len(names._combinations) <= MOST_COMBINATIONS
    assert len(names.known) == 100


def test_a_list_of_labels_is_not_the_label_that_is_a_tuple_of_them() -> None:
    names = GroupNames()
    for groups in (["a", "b"], ("a", "b"), ["a"], {"a": 0.5, "b": 1.0}, {"a", "b"}):
        names.add([(groups, ())], NO_GROUPS[0])
    assert len(names.resolve(["a", "b"])[0]) == 2
    assert len(names.resolve(("a", "b"))[0]) == 1
    assert sorted(names.resolve({"a": 0.5, "b": 1.0})[1]) == [0.5, 1.0]
    assert names.resolve({"a", "b"})[1].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("many", [False, True])
def test_names_of_groups_that_the_table_dropped_are_freed(many: bool) -> None:
    cal = AutoLARC(0.1, max_bytes=31_000)  # 256 nodes
    for start in range(0, 6000, 50):
        names = [f"customer {number}" for number in range(start, start + 50)]
        if many:
            cal.tell_many(cal.ask_many(np.zeros((50, 0)), names), np.zeros(50), np.ones(50))
        else:
            for name in names:
                cal.update(None, 0.0, 1.0, name)
    assert len(cal._names.known) <= 2 * 256 + 1000
    engine: Any = cal._engine
    assert len(cal.certificate().groups) == np.count_nonzero(engine.keys)  # all have names
    assert "customer 0" not in cal.certificate().groups
    cal.partial_fit(np.zeros((300, 0)), np.zeros(300), np.ones(300))  # the others are idle
    cal.update(None, 0.0, 1.0, "customer 0")
    assert cal.certificate().groups["customer 0"].rounds == 1.0  # it starts anew
