"""AutoLARC: the same numbers on every path, groups, tickets, states, and what it refuses."""

from __future__ import annotations

import copy
import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

from interrupts import alarm, comes_in_time
from localarc import AutoLARC, StateError, replay
from localarc.calibrators.auto.groups import MissingFeature
from localarc.calibrators.tickets import TicketError
from localarc.curves import miscoverage
from localarc.testing import check_calibrator

CALIBRATORS = {
    "plain": AutoLARC(0.1),
    "limits": AutoLARC(0.2, limits=(0.0, 5.0), loss_bound=2.0),
    "at most": AutoLARC(0.2, promise="at most", evenness=0.5),
    "small": AutoLARC(0.1, max_bytes=40_000),
}


def stream(n: int = 300, d: int = 2, seed: int = 0) -> tuple[Any, Any, list[Any]]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** np.arange(d)
    scores = np.abs(random.normal(size=n)) * (0.3 + np.abs(X[:, 0]))
    groups = [["left", ("half", 1)] if x[0] < 0 else {"right": 0.5} for x in X]
    return X, scores, groups


def learn(cal: AutoLARC, n: int = 300, seed: int = 0) -> AutoLARC:
    X, scores, groups = stream(n, seed=seed)
    for x, score, labels in zip(X, scores, groups, strict=True):
        loss = float(score > cal.threshold(x, labels)) * cal.loss_bound
        cal.update(x, loss, float(score), labels)
    return cal


@pytest.mark.parametrize("name", CALIBRATORS)
def test_it_keeps_the_promises_of_every_calibrator(name: str) -> None:
    check_calibrator(CALIBRATORS[name])


def test_replay_update_and_tickets_without_delay_agree_bit_for_bit() -> None:
    X, scores, groups = stream()
    played, stepped, asked = AutoLARC(0.1), AutoLARC(0.1), AutoLARC(0.1)
    run = replay(played, X, miscoverage(scores), groups)
    learn(stepped)
    for t, x in enumerate(X):
        ticket = asked.ask(x, groups[t])
        assert ticket.threshold == run.thresholds[t]
        asked.tell(ticket.id, float(scores[t] > ticket.threshold), scores[t])
    assert played.state() == stepped.state() == asked.state()


def test_an_update_while_others_are_pending_is_ask_and_tell() -> None:
    X, scores, _ = stream(60)
    one, two = AutoLARC(0.1), AutoLARC(0.1)
    for cal in (one, two):
        for x in X[:30]:
            cal.ask(x)
    for x, score in zip(X[30:], scores[30:], strict=True):
        loss = float(score > one.threshold(x))
        one.update(x, loss, score)
        two.tell(two.ask(x), loss, score)
    assert one.state() == two.state()


def test_a_state_with_pending_tickets_resumes_bit_for_bit() -> None:
    X, scores, groups = stream(200)
    cal = learn(AutoLARC(0.1), 100)
    tickets = [cal.ask(x, labels) for x, labels in zip(X[:40], groups[:40], strict=True)]
    twin = AutoLARC.from_state(cal.state())
    assert twin.pending == cal.pending == tuple(tickets)
    for t in reversed(range(40)):
        for each in (cal, twin):
            each.tell(tickets[t], float(scores[t] > tickets[t].threshold), scores[t])
    assert twin.state() == cal.state()
    assert twin.threshold(X[50], groups[50]) == cal.threshold(X[50], groups[50])


def test_a_ticket_is_told_or_forgotten_once() -> None:
    cal = AutoLARC(0.1)
    told, forgotten = cal.ask([0.0]), cal.ask([1.0])
    cal.tell(told, 1.0, 0.5).forget(forgotten)
    before = cal.state()
    for ticket in (told, forgotten, 99):
        with pytest.raises(TicketError, match="not pending"):
            cal.tell(ticket, 0.0, 0.5)
        with pytest.raises(TicketError, match="not pending"):
            cal.forget(ticket)
    assert cal.state() == before


def test_groups_are_a_label_a_list_a_set_or_weights() -> None:
    forms: list[Any] = ["a", ["a"], {"a"}, frozenset({"a"}), {"a": 1.0}, {"a": 1.0, "b": 0.0}]

    def updated(groups: Any) -> AutoLARC:
        return AutoLARC(0.1, initial_threshold=0.0).update(None, 1.0, 2.0, groups=groups)

    states = {updated(groups).state() for groups in forms}
    assert len(states) == 1
    assert set(updated(["a", ("b", 2), 3]).certificate().groups) == {"a", ("b", 2), 3}
    assert updated(None).certificate().groups == {}


def test_the_order_of_groups_does_not_matter() -> None:
    one = AutoLARC(0.1).update(None, 1.0, 2.0, groups=["a", "b", "c"])
    two = AutoLARC(0.1).update(None, 1.0, 2.0, groups={"c", "b", "a"})
    assert one.threshold(None, ["b", "c"]) == two.threshold(None, ["c", "b"])


@pytest.mark.parametrize(
    "groups", [float("nan"), [["a"]], {"a": 1.5}, {"a": "much"}, object(), [object()]]
)
def test_a_group_that_is_no_label_is_refused_before_anything_changes(groups: Any) -> None:
    cal = learn(AutoLARC(0.1), 30)
    before = cal.state()
    for call in (cal.threshold, cal.ask):
        with pytest.raises((ValueError, TypeError)):
            call([0.0, 0.0], groups)
    with pytest.raises((ValueError, TypeError)):
        cal.update([0.0, 0.0], 1.0, 0.5, groups)
    assert cal.state() == before


def test_a_missing_feature_is_a_group_and_leaves_its_hats_out() -> None:
    cal = learn(AutoLARC(0.1), 200)
    x = np.array([0.5, 3.0])
    without = np.array([np.nan, 3.0])
    before = cal.threshold(x)
    cal.update(without, 1.0, 50.0)
    assert cal.certificate().groups[MissingFeature(0)].rounds == 1.0
    assert str(MissingFeature(0)) == "feature 0 is missing"
    assert np.isfinite([before, cal.threshold(x), cal.threshold(without)]).all()
    assert AutoLARC.from_state(cal.state()).state() == cal.state()


def test_inputs_may_be_empty() -> None:
    scores = np.abs(np.random.default_rng(0).normal(size=400))
    cal = AutoLARC(0.1)
    for score in scores:
        cal.update(None, float(score > cal.threshold([])), score)
    assert abs(cal.risk - 0.1) < 0.03
    with pytest.raises(ValueError, match="0 feature"):
        cal.update([1.0], 0.0, 0.5)


def test_scores_can_be_left_out_only_with_a_unit_and_a_floor() -> None:
    with pytest.raises(ValueError, match="no unit"):
        AutoLARC(0.1).update(None, 1.0)
    with pytest.raises(ValueError, match="how low"):
        AutoLARC(0.1, unit=1.0).update(None, 1.0)
    assert AutoLARC(0.1, unit=1.0, promise="at most").update(None, 1.0).rounds == 1
    cal = AutoLARC(0.1, unit=0.1, limits=(0.0, None))
    scores = np.abs(np.random.default_rng(0).normal(size=3000))
    for score in scores:
        cal.update(None, float(score > cal.threshold(None)))
    assert abs(cal.risk - 0.1) < 0.02


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_of_scores_and_features_change_no_decision(factor: float) -> None:
    X, scores, groups = stream(1500)
    plain = replay(AutoLARC(0.1), X, miscoverage(scores), groups)
    scaled = replay(AutoLARC(0.1), X * factor, miscoverage(scores * factor), groups)
    assert np.array_equal(plain.losses, scaled.losses)


def test_a_second_thread_is_refused() -> None:
    entered, leave = threading.Event(), threading.Event()

    class Slow(AutoLARC):
        _own_base = False

        def _given(self, point: Any, groups: Any) -> tuple[float, float]:
            entered.set()
            leave.wait(10)
            return 0.5, float("nan")

    cal = Slow(0.1)
    worker = threading.Thread(target=cal.threshold, args=(None,))
    worker.start()
    entered.wait(10)
    with pytest.raises(RuntimeError, match="in use by another thread"):
        cal.update(None, 1.0, 0.5)
    leave.set()
    worker.join()
    cal.update(None, 1.0, 0.5)


@pytest.mark.slow
def test_an_interrupt_leaves_a_calibrator_between_two_rounds() -> None:
    X, scores, _ = stream(400)

    def states() -> list[bytes]:
        cal, found = AutoLARC(0.1), []
        for x, score in zip(X, scores, strict=True):
            found.append(cal.state())
            cal.update(x, float(score > 1.0), score)
        return [*found, cal.state()]

    def run(cal: AutoLARC) -> None:
        for x, score in zip(X, scores, strict=True):
            cal.update(x, float(score > 1.0), score)

    valid = states()
    with alarm():
        for attempt in range(40):
            cal = AutoLARC(0.1)
            comes_in_time(partial(run, cal), 1e-4 * (1 + attempt))
            assert cal.state() == valid[cal.rounds]


def test_a_frozen_threshold_function_does_not_learn() -> None:
    cal = learn(AutoLARC(0.1), 50)
    frozen, x = cal.threshold_function, np.array([0.1, 1.0])
    before = frozen(x)
    assert before == cal.threshold(x)
    cal.update(x, 1.0, 30.0)
    assert frozen(x) == before != cal.threshold(x)
    assert not hasattr(cal, "averaged_threshold_function")


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"limits": (1.0, 0.0)},
        {"limits": 3.0},
        {"promise": "above"},
        {"evenness": 0.0},
        {"unit": -1.0},
        {"max_bytes": 10},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AutoLARC(**{"alpha": 0.1, **wrong})


def test_a_damaged_state_is_refused() -> None:
    from localarc import serialization

    cal = learn(AutoLARC(0.1), 60)
    cal.ask([0.0, 0.0])
    kind, content, arrays = serialization.decode(cal.state())
    for name in arrays:
        array = np.array(arrays[name])
        for damaged in (array[:-1], array[..., None], array - 10**6):
            broken = {**arrays, name: damaged}
            with pytest.raises(StateError):
                AutoLARC.from_state(serialization.encode(kind, content, broken))
    for name in arrays:
        missing = {key: array for key, array in arrays.items() if key != name}
        with pytest.raises(StateError):
            AutoLARC.from_state(serialization.encode(kind, content, missing))


def test_a_state_of_other_settings_is_not_restored() -> None:
    with pytest.raises(StateError, match="other settings"):
        AutoLARC(0.2).restore(learn(AutoLARC(0.1), 20).state())


def test_copies_learn_on_their_own() -> None:
    cal = learn(AutoLARC(0.1), 50)
    before, twin = cal.state(), copy.deepcopy(cal)
    learn(twin, 20, seed=3)
    assert cal.state() == before != twin.state()


@pytest.mark.parametrize(
    ("settings", "required"),
    [
        ({}, True),
        ({"unit": 1.0}, True),
        ({"unit": 1.0, "limits": (0.0, None)}, False),
        ({"unit": 1.0, "promise": "at most"}, False),
    ],
)
def test_a_calibrator_says_whether_it_requires_scores(settings: Any, required: bool) -> None:
    cal = AutoLARC(0.1, **settings)
    assert cal.requires_scores == required
    if required:
        with pytest.raises(ValueError, match="without scores"):
            cal.update(None, 0.0)
    assert not cal.update(None, 1.0, 0.5).requires_scores


def test_sums_and_counts_are_those_of_the_rounds() -> None:
    cal = AutoLARC(0.1)
    assert cal.consistent
    losses = [1.0, 0.0, 1.0] * 20
    for i, loss in enumerate(losses):
        cal.update([float(i)], loss, float(i % 7))
    tickets = [cal.ask([float(i)]) for i in range(4)]
    cal.tell(tickets[1], 0.0, 0.5)
    assert (cal.loss_sum, cal.issued, cal.pending_count) == (sum(losses), 64, 3)
    rounds, lost = cal.uninformed
    assert (rounds, cal.rounds - rounds) == (cal.certificate().uninformed, cal.certificate().rounds)
    assert cal.risk * (cal.rounds - rounds) == pytest.approx(cal.loss_sum - lost)
    assert cal.consistent
