"""The service tells when a promise breaks: statuses, events, acknowledgement."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from localarc.monitoring import Monitor
from localarc_service.storage import migrations
from localarc_service.storage.store import EventStore
from localarc_service.stored.format import decode_snapshot, encode_snapshot
from localarc_service.streams import sweep
from localarc_service.streams.stream import Stream
from service.conftest import Start
from service.service_in_thread import Inside, wait_for
from service.test_events import Subscription, headers

GOOD = [1.0, *[0.0] * 9]  # ten rounds at the target
BAD = [1.0, 0.0]


def rounds(
    service: Inside, losses: Iterable[float], group: Any = None, seconds: float = 1.0
) -> list[Any]:
    """Predictions with their losses, one at a time; returns the responses to the losses."""
    told = []
    for number, loss in enumerate(losses):
        service.clock.now += seconds
        key = f"at-{service.clock.now:.3f}-{number}"
        status, answer = service.predict(key, **({} if group is None else {"group": group}))
        assert status == 200, answer
        told.append(service.feedback(key, loss))
    return told


def health(service: Inside) -> Any:
    return service.get()["health"]


def test_a_stream_whose_losses_keep_the_promise_is_ok(service: Inside) -> None:
    service.create()
    assert health(service)["status"] == "ok"
    rounds(service, [0.0], group="a")  # before any feedback: not the monitors'
    rounds(service, GOOD * 20, group="a")
    found = service.get()
    assert [each["status"] for each in (found["health"], *found["groups_health"])] == ["ok"] * 2
    assert found["health"]["risk"] == pytest.approx(0.1)


def test_a_stream_whose_risk_rises_is_broken_and_says_since_when_and_why(service: Inside) -> None:
    service.create(tolerance=0.05, window=100)
    service.clock.now -= 1.0
    rounds(service, [0.0])  # before any feedback: not the monitor's
    rounds(service, BAD * 30)
    found = health(service)
    assert found["status"] == "broken"
    assert found["group"] is None
    assert 0 < found["since_round"] <= 60
    assert found["since"] == 1000.0 + found["since_round"]
    assert found["risk"] == found["recent_risk"] == 0.5
    assert 0.15 < found["at_least"] < 0.5
    limits = {"target": 0.1, "tolerance": 0.05, "window": 100, "rounds": 60}
    assert found == found | limits
    assert "0.5" in found["why"]
    assert service.http.call("GET", "/v1/streams")[1]["streams"][0]["health"] == found


@pytest.mark.slow
def test_a_group_that_breaks_is_found_although_its_stream_is_fine(service: Inside) -> None:
    service.create()
    for _ in range(40):
        rounds(service, [0.0] * 19, group="country")
        rounds(service, [1.0], group=["city", "new"])
    found = service.get()
    assert found["overall"]["status"] == "ok"
    assert found["health"] == found["groups_health"][0]
    assert (found["health"]["status"], found["health"]["group"]) == ("broken", "city")
    statuses = {each["group"]: each["status"] for each in found["groups_health"]}
    assert statuses == {"city": "broken", "new": "broken", "country": "ok"}
    assert service.http.call("GET", "/v1/streams")[1]["streams"][0]["health"]["status"] == "broken"


def test_the_summary_lists_the_worst_groups_and_says_how_many_it_leaves_out(
    service: Inside,
) -> None:
    service.create()
    rounds(service, [0.0])  # before any feedback: not the monitors'
    for number in range(40):
        rounds(service, [0.0], group=f"group {number}")
    rounds(service, BAD * 30, group="late and bad")
    found = service.get()
    assert (len(found["groups_health"]), found["groups_left_out"]) == (32, 9)
    assert found["groups_health"][0]["group"] == "late and bad"


def test_changes_of_health_are_events_with_a_position_of_their_own(service: Inside) -> None:
    service.create()
    subscription = Subscription(service)
    told = rounds(service, [1.0] * 10, group="a")
    seen = [subscription.next() for _ in range(22)]
    subscription.close()
    assert [seq for seq, _, _ in seen] == list(range(1, 23))
    changes = [event for _, kind, event in seen if kind == "health"]
    assert [(each["group"], each["status"], each["previous"]) for each in changes] == [
        (None, "broken", "ok"),
        ("a", "broken", "ok"),
    ]
    positions = {event["id"]: seq for seq, kind, event in seen if kind == "feedback"}
    assert [answer["seq"] for _, answer in told] == list(positions.values())


def test_a_repeated_loss_gets_the_same_answer_although_health_changed_with_it(
    service: Inside,
) -> None:
    service.create()
    told = rounds(service, [1.0] * 12)
    repeated = [
        service.feedback(f"at-{1000.0 + number:.3f}-{number - 1}", 1.0) for number in range(1, 13)
    ]
    assert health(service)["status"] == "broken"
    assert repeated == told


def test_an_acknowledgement_starts_the_evidence_of_all_parts_anew(service: Inside) -> None:
    service.create()
    rounds(service, [1.0] * 20, group="a")
    assert health(service)["status"] == "broken"
    seq = service.get()["seq"]
    subscription = Subscription(service, **headers(seq))
    status, answer = service.http.call("POST", "/v1/streams/s/acknowledge")
    assert (status, answer["seq"], answer["health"]["status"]) == (200, seq + 1, "ok")
    found = service.get()
    parts = found["overall"], *found["groups_health"]
    assert [(each["status"], each["rounds"]) for each in parts] == [("ok", 0), ("ok", 0)]
    assert found["rounds"] == 20  # of the calibrator, which did not start anew
    kinds = [subscription.next()[1] for _ in range(3)]
    subscription.close()
    assert kinds == ["acknowledged", "health", "health"]
    assert service.http.call("POST", "/v1/streams/s/acknowledge")[1]["seq"] == seq + 3  # no event
    rounds(service, [1.0] * 20)
    assert health(service)["status"] == "broken"


def test_a_stream_that_recovers_pages_no_longer_and_alarms_again(start: Start) -> None:
    service = start(stream_metrics=10)
    service.create(alpha=0.3, tolerance=0.2, window=10)
    service.clock.now -= 1.0
    rounds(service, [0.0])  # before any feedback: not the monitor's

    def state() -> tuple[str, str, int]:
        """In the summary, in metrics, and how many of the list are broken."""
        metrics = bytes(service.http.call("GET", "/metrics")[1]).decode()
        (shown,) = re.findall(r'stream_status{group="",status="(\w+)",stream="s"} 1.0', metrics)
        counts = service.http.call("GET", "/v1/streams")[1]["statuses"]
        return health(service)["status"], shown, counts["broken"]

    rounds(service, [1.0] * 20)
    assert state() == ("broken", "broken", 1)
    rounds(service, [0.0] * 60)
    assert state() == ("recovered", "recovered", 0)
    found = health(service)
    assert 20 < found["since_round"] <= 80
    assert found["since"] == 1000.0 + found["since_round"]
    everything = service.everything()
    service.stop()
    service = start(stream_metrics=10)
    assert service.everything() == everything
    assert service.http.call("GET", "/v1/streams?status=recovered")[1]["found"] == 1
    service.clock.now = 2000.0
    rounds(service, [1.0] * 150)
    assert state() == ("broken", "broken", 1)
    rounds(service, [0.0] * 300)
    assert state() == ("recovered", "recovered", 0)
    status, answer = service.http.call("POST", "/v1/streams/s/acknowledge")
    assert (status, answer["health"]["status"]) == (200, "ok")


def test_a_stream_of_a_format_without_usual_silence_gets_15_minutes(start: Start) -> None:
    service = start()
    service.create()
    rounds(service, GOOD)
    present = service.ask(lambda manager: manager.stream("s").snapshot())
    snapshot = decode_snapshot(present)
    watch = msgspec.msgpack.decode(snapshot.watch)
    for monitor in watch["monitors"].values():
        del monitor["stale_after"], monitor["recovery"], monitor["recovered"]
    state = msgspec.msgpack.decode(snapshot.state)
    del state["config"]["stale_after"], state["uninformed"], state["uninformed_loss"]
    state["config"]["memory"] = {"kind": "auto"}
    old = dataclasses.replace(
        snapshot, state=msgspec.msgpack.encode(state), watch=msgspec.msgpack.encode(watch)
    )
    found = Stream.from_snapshot(migrations.upgrade_snapshot(encode_snapshot(old), 5))
    assert found.state.config.stale_after == 900.0
    assert decode_snapshot(found.snapshot()).watch == snapshot.watch


def test_an_acknowledgement_of_an_unknown_stream_is_not_found(service: Inside) -> None:
    assert service.http.call("POST", "/v1/streams/s/acknowledge")[0] == 404


def test_a_stream_without_feedback_for_ten_usual_intervals_is_stale_until_it_comes(
    service: Inside,
) -> None:
    service.create()
    rounds(service, GOOD * 3, seconds=60.0)
    subscription = Subscription(service)
    service.clock.now += 300
    assert health(service)["status"] == "ok"
    service.clock.now += 3_600
    found = health(service)
    assert found["status"] == "stale"
    assert found["since"] < service.clock.now
    _, kind, event = subscription.next()  # nobody sent a request that could cause it
    assert (kind, event["status"], event["previous"]) == ("health", "stale", "ok")
    rounds(service, [0.0])
    assert health(service)["status"] == "ok"
    kinds = [subscription.next()[1] for _ in range(3)]
    assert kinds == ["predicted", "feedback", "health"]
    subscription.close()


def test_no_stream_is_stale_because_the_service_was_not_there(start: Start) -> None:
    service = start()
    service.create()
    rounds(service, GOOD * 3)
    stopped = service.clock.now
    service.stop()
    service = start(now=stopped + 86_400)
    assert health(service)["status"] == "ok"
    service.clock.now += 3_600
    assert health(service)["status"] == "stale"


def test_one_step_of_the_sweep_visits_a_bounded_number_of_parts(
    service: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "PARTS", 3)
    names = [f"s{number}" for number in range(8)]
    for name in names:
        service.create(name)
    manager = service.ask(lambda manager: manager)
    steps = sweep.Sweep()
    seen = [[stream.name for stream, _ in steps.next(manager.streams)] for _ in range(8)]
    assert {len(step) for step in seen} == {3}
    assert set(itertools.chain(*seen[:3])) == set(names)


def test_replaying_the_events_gives_the_same_monitors_bit_for_bit(start: Start) -> None:
    service = start()
    service.create(timeout=50, default_loss=1.0)
    rounds(service, [*GOOD * 5, *BAD * 10], group="a")
    service.http.call("POST", "/v1/streams/s/acknowledge")
    service.predict("never", group="b")
    service.clock.now += 51
    wait_for(lambda: service.get()["expired"] == 1)
    rounds(service, [0.3, *BAD * 20], group=["a", "b"])
    before = service.everything()
    service.app_state.writer._store.snapshot = lambda streams: []  # type: ignore[method-assign]
    service.stop()
    assert start().everything() == before


def test_a_failed_write_restores_the_monitors(
    service: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    service.create()
    rounds(service, [1.0] * 3)
    service.predict("one")
    before = service.everything()
    with monkeypatch.context() as patch:
        for name in ("append", "probe"):
            patch.setattr(EventStore, name, fails)
        assert service.feedback("one", 1.0)[0] == 503
        assert service.everything() == before
    wait_for(lambda: service.http.call("GET", "/readyz")[0] == 200)
    rounds(service, [1.0] * 8)
    assert health(service)["status"] == "broken"


def test_the_watch_is_stored_with_the_stream(start: Start, tmp_path: Path) -> None:
    service = start()
    service.create()
    rounds(service, [1.0] * 20, group="a")
    told = service.get()
    service.stop()
    with contextlib.closing(EventStore(tmp_path)) as store:
        stream = store.load()["s"]
    assert {part: each.state for part, each in stream.watch.announced.items()} == {
        "": "broken",
        "a": "broken",
    }
    twin = Monitor(0.1)
    for second in range(1, 20):  # the first went out before any feedback
        twin.update(1.0, 1001.0 + second)
    assert stream.watch._monitors["a"].to_state() == twin.to_state()
    again = start().get()
    assert (again["health"], again["groups_health"]) == (told["health"], told["groups_health"])


def test_an_imported_state_starts_the_evidence_anew(service: Inside) -> None:
    service.create()
    rounds(service, [1.0] * 20, group="a")
    status, state = service.http.call("GET", "/v1/streams/s/state")
    assert status == 200
    service.ask(lambda manager: manager.import_state("s", state), writes=1)
    found = service.get()
    assert [each["status"] for each in (found["overall"], *found["groups_health"])] == ["ok"] * 2
    assert service.ask(lambda manager: manager.streams["s"].watch.announced) == {}


def test_a_gate_is_watched_too(service: Inside) -> None:
    service.create(method="gate")
    for number in range(60):
        service.clock.now += 1
        service.predict(f"p{number}", confidence=1.0)
        service.feedback(f"p{number}", 1.0)
    found = service.get()
    assert found["health"]["rounds"] == found["rounds"] > 0  # those that were not withheld
    assert found["health"]["risk"] == 1.0
