"""Stored monitors continue bit for bit, and states that make no sense are rejected."""

import json
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

from localarc import StateError
from localarc.monitoring import Monitor
from monitoring.make_golden import FOLDER, continued


def used() -> Monitor:
    monitor, rng, time = Monitor(target=0.1, window=70), random.Random(1), 1e9
    for t in range(900):
        time += rng.expovariate(0.1)
        monitor.update(rng.random() ** 4 if 400 < t < 500 else rng.random() * 0.1, at=time)
    return monitor


@pytest.mark.parametrize("cut", [0, 1, 5, 399, 420, 480, 700])
def test_a_stored_monitor_continues_bit_for_bit(cut: int) -> None:
    rng = random.Random(7)
    risks = [0.05] * 400 + [0.6] * 60 + [0.05] * 500
    rounds = [(float(rng.random() < risk), 1e9 + 3.7 * t) for t, risk in enumerate(risks)]
    through, stopped = Monitor(target=0.1, window=60), Monitor(target=0.1, window=60)
    changes = [through.update(loss, at=at) for loss, at in rounds]
    first = [stopped.update(loss, at=at) for loss, at in rounds[:cut]]
    resumed = Monitor.from_state(json.loads(json.dumps(stopped.to_state())))
    assert first + [resumed.update(loss, at=at) for loss, at in rounds[cut:]] == changes
    assert resumed.to_state() == through.to_state()
    assert resumed.health(now=2e9) == through.health(now=2e9)
    assert {"drifting", "ok"} <= set(changes)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("v*.json")), ids=lambda path: path.stem)
def test_monitors_of_every_stored_version_continue_to_the_same_health(path: Path) -> None:
    golden = json.loads(path.read_text())
    assert continued(Monitor.from_state(golden["state"])) == pytest.approx(golden["continued"])


@pytest.mark.parametrize("cut", [50, 400, 1100, 1400])
def test_a_recovery_continues_bit_for_bit(cut: int) -> None:
    losses = [0.3] * 200 + [0.0] * 1000 + [0.5] * 300
    through, stopped = Monitor(target=0.1), Monitor(target=0.1)
    changes = [through.update(loss, at=1e9 + t) for t, loss in enumerate(losses)]
    first = [stopped.update(loss, at=1e9 + t) for t, loss in enumerate(losses[:cut])]
    resumed = Monitor.from_state(json.loads(json.dumps(stopped.to_state())))
    rest = [resumed.update(loss, at=1e9 + t) for t, loss in enumerate(losses[cut:], start=cut)]
    assert first + rest == changes
    assert resumed.to_state() == through.to_state()
    assert [change for change in changes if change] == ["broken", "recovered", "broken"]


def test_a_state_from_before_recoveries_continues_and_can_recover() -> None:
    monitor = Monitor(target=0.1, stale_after=0.0)
    for t in range(100):
        monitor.update(1.0, at=1e9 + t)
    state = monitor.to_state()
    for new in "recovery", "recovered", "stale_after":
        del state[new]
    found = Monitor.from_state(state)
    assert found.health(now=2e9) == monitor.health(now=2e9)
    assert found.overdue_at == monitor.overdue_at
    assert [found.update(0.0, at=1e9 + t) for t in range(100, 3000)].count("recovered") == 1


def test_a_broken_monitor_stored_before_recoveries_continues_bit_for_bit_until_it_recovers() -> (
    None
):
    golden = json.loads((FOLDER / "broken_v1.json").read_text())
    monitor = Monitor.from_state(golden["state"])
    for t in range(300, 400):
        monitor.update(float(t % 3 == 0), at=1.7e9 + 60.0 * t)
    assert asdict(monitor.health(now=1.8e9)) == golden["continued"]
    assert [monitor.update(0.0) for _ in range(3000)].count("recovered") == 1


def test_a_state_passes_through_msgpack() -> None:
    monitor = used()
    state = msgspec.msgpack.decode(msgspec.msgpack.encode(monitor.to_state()))
    assert Monitor.from_state(state).to_state() == monitor.to_state()


def test_a_state_is_small() -> None:
    assert len(json.dumps(used().to_state())) < 2000


def test_a_state_is_a_copy() -> None:
    monitor = used()
    state = monitor.to_state()
    kept = json.dumps(state)
    Monitor.from_state(state).update(1.0, at=2e9)
    monitor.update(1.0, at=2e9)
    assert json.dumps(state) == kept


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 2),
        ("settings", [0.1, 0.02]),
        ("settings", [0.1, 0.02, 5.0, 70, 1.0]),
        ("total", -1),
        ("total", 3),
        ("since_round", 10**9),
        ("since", "yesterday"),
        ("broken", 1),
        ("reached", 901),
        ("all", [900, 1e9, [0.0] * 9]),
        ("all", [900, 1.0, [0.0] * 8]),
        ("recent", [[9, 1.0, 0.0]] * 8),
        ("recent", [[10**6, 0.0, 0.0]]),
        ("recent", 4),
        ("money", [float("nan")] * 9),
        ("money", [1e200] * 9),
        ("intervals", [None, 0, None, 0.0, [[999, 1.0]]]),
        ("intervals", [None, 0, -1.0, 0.0, []]),
        ("recovered", [901, None]),
        ("recovered", [3]),
        ("stale_after", -1.0),
    ],
)
def test_a_state_that_makes_no_sense_is_rejected(key: str, value: Any) -> None:
    state = used().to_state() | {key: value}
    with pytest.raises(StateError, match=r"damaged|version"):
        Monitor.from_state(state)


@pytest.mark.parametrize("value", [[1], [-1, [0.0] * 4], [1, [0.0] * 3], [1, [float("nan")] * 4]])
def test_bets_on_a_recovery_that_make_no_sense_are_rejected(value: Any) -> None:
    state = used().to_state() | {"broken": True, "recovery": value}
    with pytest.raises(StateError, match="damaged"):
        Monitor.from_state(state)


def test_a_part_that_is_missing_is_named() -> None:
    state = used().to_state()
    del state["money"]
    with pytest.raises(StateError, match="no money"):
        Monitor.from_state(state)
    with pytest.raises(StateError, match="not the state of a monitor"):
        Monitor.from_state({})
