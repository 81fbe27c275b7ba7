"""The life of a stream: its config changes, it gets another name, old records go, it is deleted."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from localarc_client.wire.config import ArcConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.lifecycle import ChangeRequest, RenameRequest
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.api.auth import Scope, Tokens
from localarc_service.limits import Limits
from localarc_service.storage import erasure
from localarc_service.stored.events import StreamCreated
from localarc_service.streams import lifecycle
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream
from service.conftest import Start
from service.service_in_thread import Inside, wait_for
from service.service_process import Answer, Caller
from service.test_events import Subscription
from service.test_quarantine import damaged

ADMIN = "a" * 16
WRITER = "w" * 16
TOKENS = {ADMIN: Scope.ADMIN, WRITER: Scope.WRITE}


def start_with_tokens(start: Start, **more: Any) -> Inside:
    service = start(tokens=Tokens(TOKENS), **more)
    use_token(service, ADMIN)
    return service


def use_token(service: Inside, token: str) -> None:
    service.http.close()
    service.http = Caller(service.port, token)


def change(service: Inside, stream: str = "s", **body: Any) -> Answer:
    return service.http.call("PATCH", f"/v1/streams/{stream}", body)


def rename(service: Inside, name: str, stream: str = "s") -> Answer:
    return service.http.call("POST", f"/v1/streams/{stream}/rename", {"name": name})


def delete(service: Inside, stream: str = "s") -> Answer:
    return service.http.call("DELETE", f"/v1/streams/{stream}")


def found_in(folder: Path, needles: dict[str, bytes]) -> set[str]:
    """Which of some bytes are in any file of a data folder."""
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return {what for what, needle in needles.items() if any(needle in each for each in contents)}


# ---- change --------------------------------------------------------------------------------------


def test_a_change_says_what_is_new_and_leaves_the_rest(service: Inside) -> None:
    service.create(timeout=5.0, default_loss=1.0, labels={"team": "pricing"})
    status, answer = change(service, timeout=60.0, labels={"region": "north"})
    assert (status, answer["stream"], answer["seq"]) == (200, "s", 1)
    config = service.get()["config"]
    assert answer["config"] == config
    told = {name: config[name] for name in ("timeout", "default_loss", "labels", "retention")}
    assert told == {
        "timeout": 60.0, "default_loss": 1.0, "labels": {"region": "north"}, "retention": None
    }  # fmt: skip
    assert change(service, default_loss=None, timeout=None)[1]["config"]["timeout"] is None


def test_a_new_timeout_is_that_of_pending_predictions_too(service: Inside) -> None:
    service.create(timeout=1_000.0)
    service.predict("one")
    service.clock.now += 400  # longer than the grace after a start
    assert service.get()["pending"] == 1
    change(service, timeout=300.0)
    wait_for(lambda: service.get()["expired"] == 1)
    assert service.feedback("one", 1.0)[0] == 410


def test_a_repeated_change_has_no_effect(service: Inside) -> None:
    service.create()
    first = change(service, retention=3600)
    assert change(service, retention=3600) == first
    assert service.get()["seq"] == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "nothing to change: send one or more of labels, timeout, default_loss, retention"),
        ({"default_loss": 1.0}, "default_loss applies after the timeout: set timeout as well."),
        ({"timeout": 9.0, "default_loss": 2.0}, "default_loss must be at most the loss bound 1.0"),
        ({"timeout": 0}, "Expected `float` > 0.0"),
        ({"retention": 59}, "Expected `float` >= 60.0"),
        ({"alpha": 0.2}, "Object contains unknown field `alpha`"),
        ({"labels": None}, "Expected `object`, got `null`"),
        ({"labels": {"a,b": "c"}}, "matching regex"),
        ({"labels": {"a": "b,c"}}, "matching regex"),
        ({"labels": {"a": 1}}, "Expected `str`, got `int`"),
        ({"labels": {str(k): "v" for k in range(17)}}, "length <= 16"),
    ],
)
def test_an_invalid_change_is_refused_and_changes_nothing(
    service: Inside, body: dict[str, Any], reason: str
) -> None:
    service.create()
    before = service.everything()
    status, problem = change(service, **body)
    assert status == 422
    assert reason in problem["detail"]
    assert service.everything() == before


def test_a_program_may_create_a_changed_stream_again_as_it_did_at_first(service: Inside) -> None:
    service.create(timeout=5.0)
    change(service, timeout=60.0)
    change(service, labels={"team": "pricing"})
    for timeout in 5.0, 60.0:
        labels = {} if timeout == 5.0 else {"team": "pricing"}
        status, answer = service.create(timeout=timeout, labels=labels)
        assert (status, answer["config"]["timeout"]) == (200, 60.0)
    assert service.create(timeout=7.0)[0] == 409
    assert service.get()["config"]["labels"] == {"team": "pricing"}


def test_the_list_is_filtered_by_labels(service: Inside) -> None:
    service.create("a", labels={"team": "pricing", "region": "north"})
    service.create("b", labels={"team": "pricing"})
    service.create("c")

    def listed(labels: str) -> list[str]:
        status, answer = service.http.call("GET", f"/v1/streams?labels={labels}")
        assert status == 200, answer
        return [each["stream"] for each in answer["streams"]]

    assert listed("") == ["a", "b", "c"]
    assert listed("team=pricing") == ["a", "b"]
    assert listed("team=pricing,region=north") == ["a"]
    assert listed("team=north") == []
    _, answer = service.http.call("GET", "/v1/streams?labels=team=pricing&status=ok")
    assert [each["labels"]["team"] for each in answer["streams"]] == ["pricing", "pricing"]
    assert answer["statuses"]["ok"] == 2
    for wrong in "team", "=pricing", "team=", "team=a,,b=c":
        status, problem = service.http.call("GET", f"/v1/streams?labels={wrong}")
        assert (status, "pairs such as" in problem["detail"]) == (422, True)


# ---- rename --------------------------------------------------------------------------------------


def test_a_renamed_stream_continues_under_its_new_name(start: Start) -> None:
    service = start_with_tokens(start)
    service.create(features=1, set={"kind": "interval"})
    service.predict("one", x=[0.5], scores=[1.0])
    service.predict("two", x=[0.7])
    service.feedback("two", 1.0)
    before = service.get()
    assert rename(service, "t") == (200, {"stream": "t", "seq": 4})
    assert service.predict("three", x=[0.1])[0] == 404
    assert service.create(features=2)[0] == 201  # the name is free
    after = service.get(stream="t")
    unchanged = before.keys() - {"stream", "seq"}
    assert {name: after[name] for name in unchanged} == {name: before[name] for name in unchanged}
    assert service.feedback("one", stream="t", y=1.5)[0] == 200
    everything = service.everything("t")
    service.stop()
    again = start_with_tokens(start)
    assert again.everything("t") == everything
    assert again.get()["config"]["features"] == 2


def test_a_name_that_is_taken_or_invalid_is_refused(start: Start, tmp_path: Path) -> None:
    damaged(start, tmp_path).stop()
    service = start_with_tokens(start)
    service.create("one")
    service.create("two")
    assert rename(service, "two", "one")[0] == 409
    assert rename(service, "one", "one")[0] == 409
    assert rename(service, "s", "one")[0] == 409  # in quarantine
    assert rename(service, "a/b", "one")[0] == 422
    assert rename(service, "x", "unknown")[0] == 404
    assert service.get(stream="one")["seq"] == 0


def test_a_name_of_another_worker_is_refused(start: Start) -> None:
    service = start_with_tokens(start)
    service.create()
    service.ask(lambda manager: setattr(manager, "owns", lambda name: name != "theirs"))
    status, problem = rename(service, "theirs")
    assert status == 409
    assert "would belong to another worker" in problem["detail"]
    assert rename(service, "ours")[0] == 200


def test_a_token_that_is_limited_to_streams_cannot_rename_one_out_of_reach(
    start: Start, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"admin {ADMIN} streams=s*\n")
    service = start(tokens=Tokens.read(tokens))
    use_token(service, ADMIN)
    service.create()
    assert rename(service, "other")[0] == 403
    assert rename(service, "s-2")[0] == 200


# ---- delete --------------------------------------------------------------------------------------


def test_a_deleted_stream_is_gone_and_its_name_is_free(start: Start) -> None:
    service = start_with_tokens(start)
    service.create(timeout=5.0)
    service.predict("one")
    assert delete(service) == (200, {"stream": "s", "seq": 1})
    assert delete(service)[0] == service.predict("two")[0] == 404
    assert service.http.call("GET", "/v1/streams")[1]["streams"] == []
    service.stop()
    again = start_with_tokens(start)
    assert again.http.call("GET", "/readyz")[1]["quarantined"] == 0
    assert again.create(timeout=7.0)[0] == 201
    assert again.get()["predictions"] == 0


def test_renaming_and_deleting_require_an_admin_token(start: Start) -> None:
    service = start_with_tokens(start)
    service.create()
    use_token(service, WRITER)
    assert delete(service)[0] == rename(service, "t")[0] == 403
    assert change(service, labels={"a": "b"})[0] == 200


def test_a_stream_in_quarantine_can_be_deleted(start: Start, tmp_path: Path) -> None:
    damaged(start, tmp_path).stop()
    service = start_with_tokens(start)
    assert service.http.call("GET", "/readyz")[1]["quarantined"] == 1
    assert delete(service) == (200, {"stream": "s", "seq": None})
    assert service.create()[0] == 201


def test_what_one_commit_says_about_a_stream_is_stored_in_its_order(start: Start) -> None:
    """Requests of one commit: what comes before a deletion must not reappear."""
    service = start_with_tokens(start)
    service.create("s")
    service.create("t")

    def work(manager: StreamManager) -> None:
        manager.predict("s", PredictRequest(id="before"))
        lifecycle.delete(manager, "s")
        manager.create("s", ArcConfig(0.2))
        manager.predict("s", PredictRequest(id="after"))
        manager.predict("t", PredictRequest(id="kept"))
        lifecycle.rename(manager, "t", RenameRequest("u"))
        manager.predict("u", PredictRequest(id="kept-2"))
        lifecycle.rename(manager, "u", RenameRequest("v"))
        manager.create("u", ArcConfig(0.3))
        lifecycle.delete(manager, "u")

    service.ask(work, writes=1)
    service.stop()
    again = start_with_tokens(start)
    assert again.http.call("GET", "/readyz")[1]["quarantined"] == 0
    streams = again.ask(lambda manager: manager.streams)
    assert {name: list(each.state.pending) for name, each in streams.items()} == {
        "s": ["after"],
        "v": ["kept", "kept-2"],
    }
    assert streams["v"].name == "v"
    assert streams["s"].state.config.alpha == 0.2


SECRETS = {
    "name": b"walrus-7",
    "id": b"order-8841",
    "group": b"harbour-district",
    "label": b"blue-whale",
    "x as text": b"0.8172635455",
    "x as a number": struct.pack("<d", 0.8172635455),
    "y": b"narwhal",
}


def tell_secrets(service: Inside, stream: str = "walrus-7") -> None:
    labels = {"kind": "labels", "labels": ["narwhal", "seal"]}
    service.create(stream, features=1, set=labels, labels={"note": "blue-whale"})
    for t in range(30):
        about = {"x": [0.8172635455], "scores": [0.1, 0.2], "group": "harbour-district"}
        service.predict(f"order-8841-{t}", stream, **about)
        if t % 3:
            service.feedback(f"order-8841-{t}", stream=stream, y="narwhal")


def test_nothing_of_a_deleted_stream_is_left_in_the_files(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "DELETED_SECONDS", 0.0)
    service = start_with_tokens(
        start, limits=Limits(log_events=400)
    )  # prunes, and stores snapshots
    for k in range(8):
        service.create(f"other-{k}", features=1)
    tell_secrets(service)
    streams = "walrus-7", *(f"other-{k}" for k in range(8))
    for start_at in range(0, 100, 10):  # rows of all streams among each other, and pages that move
        operations = [
            {"op": "predict", "stream": stream, "id": f"p{t}", "x": [0.1 * t]}
            for t in range(start_at, start_at + 10)
            for stream in streams
        ]
        assert service.http.call("POST", "/v1/batch", {"operations": operations})[0] == 200
    assert found_in(tmp_path, SECRETS) == SECRETS.keys()
    assert delete(service, "walrus-7")[0] == 200
    wait_for(lambda: not found_in(tmp_path, SECRETS))
    assert service.get(stream="other-3")["pending"] == 100
    service.stop()
    assert found_in(tmp_path, SECRETS) == set()


def test_the_old_name_of_a_stream_is_erased_and_its_records_stay(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "DELETED_SECONDS", 0.0)
    service = start_with_tokens(start)
    tell_secrets(service)
    rename(service, "seal", "walrus-7")
    wait_for(lambda: "name" not in found_in(tmp_path, SECRETS))
    assert service.feedback("order-8841-1", stream="seal", y="narwhal")[0] == 200
    events_are_replaced_by_a_snapshot = {"x as text"}
    gone = {"name"} | events_are_replaced_by_a_snapshot
    assert found_in(tmp_path, SECRETS) == SECRETS.keys() - gone


# ---- retention -----------------------------------------------------------------------------------


def test_old_events_and_answers_are_removed_and_the_state_is_kept(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "REPLACED_SECONDS", 0.0)
    service = start_with_tokens(start)
    tell_secrets(service, "s")
    before, state = service.get(), service.http.state("s")
    change(service, retention=100.0, labels={})
    service.clock.now += 109
    assert service.feedback("order-8841-1", y="narwhal")[0] == 200  # a retry
    service.clock.now += 2
    wait_for(lambda: service.get()["seq"] == before["seq"] + 2)
    assert service.feedback("order-8841-1", y="narwhal")[0] == 404
    assert service.http.state("s") == state
    after = service.get()
    kept = "risk", "rounds", "predictions", "pending", "certificate", "groups", "features"
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    gone = {"x as text", "label"}  # pending predictions keep their inputs, as numbers
    wait_for(lambda: not found_in(tmp_path, {name: SECRETS[name] for name in gone}))
    everything = service.everything()
    assert b"order-8841-0" in everything  # pending
    assert b"order-8841-29" not in everything  # answered
    service.stop()
    assert start_with_tokens(start).everything() == everything


def test_an_idle_stream_is_written_once_for_its_retention(service: Inside) -> None:
    service.create(retention=60.0)
    service.predict("one")
    service.feedback("one", 1.0)
    service.clock.now += 67
    wait_for(lambda: service.get()["seq"] == 3)
    for _ in range(3):
        service.clock.now += 1_000
        service.ask(lifecycle.remove_old_records, writes=1)
    assert service.get()["seq"] == 3


def test_a_withheld_answer_that_is_removed_can_no_longer_be_audited(service: Inside) -> None:
    service.create(method="gate", retention=60.0, timeout=1e6)
    service.predict("kept", confidence=0.0)
    service.clock.now += 67
    wait_for(lambda: service.get()["seq"] == 2)
    assert (
        service.http.call("PUT", "/v1/streams/s/predictions/kept/audit", {"wrong": True})[0] == 404
    )
    assert b"kept" not in service.everything()


# ---- events and replay ---------------------------------------------------------------------------


def test_subscribers_are_told_and_follow_a_stream_to_its_end(start: Start) -> None:
    service = start_with_tokens(start)
    service.create()
    subscription = Subscription(service, Authorization=f"Bearer {ADMIN}")
    change(service, labels={"a": "b"}, retention=60.0)
    rename(service, "t")
    service.predict("one", "t")
    service.clock.now += 100
    told = [subscription.next() for _ in range(4)]
    assert [(seq, kind) for seq, kind, _ in told] == [
        (1, "changed"),
        (2, "renamed"),
        (3, "predicted"),
        (4, "removed"),
    ]
    assert told[0][2]["labels"] == {"a": "b"}
    assert (told[1][2]["previous"], told[1][2]["name"]) == ("s", "t")
    delete(service, "t")
    assert subscription.next()[:2] == (5, "deleted")
    assert subscription.ends()
    subscription.close()
    wait_for(lambda: len(service.app_state.event_bus) == 0)


@pytest.mark.parametrize("method", ["arc", "mondrian", "auto", "gate"])
def test_replay_of_changes_is_exact(method: Any) -> None:
    now = [0.0]
    manager = StreamManager(Limits(), lambda: now[0])
    manager.create("s", read_config({"alpha": 0.1, "method": method, "timeout": 40.0}))
    name, log = "s", manager.uncommitted
    manager.uncommitted = []
    for t in range(60):
        now[0] += 3.0
        confidence = t % 10 / 10 if method == "gate" else None
        made = manager.predict(name, PredictRequest([], f"p{t}", "ab"[t % 2], None, confidence))
        if t % 3 and made.answer is not False:
            score = 0.1 * (t % 7) if method == "auto" else None
            manager.feedback(name, f"p{t}", FeedbackRequest(float(t % 4 == 1), score))
        if t in (20, 40):
            lifecycle.change(manager, name, ChangeRequest(timeout=1.0 * t, retention=60.0))
        manager.expire()
        lifecycle.remove_old_records(manager)
        log += manager.uncommitted
        manager.uncommitted = []
        if t == 30:
            lifecycle.rename(manager, name, RenameRequest("t"))
            name = "t"
    assert {each.change.kind for each in log} >= {"changed", "renamed", "removed", "expired"}
    first, *rest = (write.event for write in log)
    assert isinstance(first, StreamCreated)
    again = Stream.create("s", first)
    for event in rest:
        assert event is not None
        again.apply(event)
    assert again.snapshot() == manager.streams["t"].snapshot()
    assert again.replay_differs == again.replay_rounded == 0
