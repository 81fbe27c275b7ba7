"""Gates behind the service: confidences, decisions, feedback, audits, storage and the client."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import ValidationError

from localarc import Gate
from localarc_client import Client
from localarc_client.wire.config import AutoConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.predictions import (
    AuditRequest,
    FeedbackRequest,
    PredictRequest,
    PredictResponse,
)
from localarc_service.api import queries
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.storage.store import EventStore
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream
from service.service_in_thread import Inside


def managed(**fields: Any) -> StreamManager:
    """A manager with one stream, s."""
    manager = StreamManager(Limits(), lambda: 0.0)
    config = {"alpha": 0.1, "method": "gate", "features": 1} | fields
    manager.create("s", read_config(config))
    return manager


def decide(manager: StreamManager, key: str, confidence: float, **body: Any) -> PredictResponse:
    request = PredictRequest(x=[0.5], id=key, confidence=confidence, **body)
    return manager.predict("s", request)


def play(manager: StreamManager, rounds: int, seed: int = 0, late: int = 3) -> Gate:
    """Random decisions; the gate of the library that saw the same."""
    source, twin, waiting = random.Random(seed), Gate(0.1), []
    for t in range(rounds):
        key, confidence = f"{seed}-{t}", source.random()
        topic, wrong = source.choice(["billing", "legal"]), source.random() > confidence
        mine = twin.decide(np.array([0.5]), confidence=confidence, groups=topic, key=key)
        made = decide(manager, key, confidence, group=topic)
        assert (made.answer, made.threshold) == (mine.answer, mine.threshold)
        if made.answer:
            waiting.append((key, wrong))
        elif source.random() < 0.3:
            manager.audit("s", key, AuditRequest(wrong))
            twin.audit(key, wrong)
        while len(waiting) > late:
            key, wrong = waiting.pop(source.randrange(len(waiting)))
            manager.feedback("s", key, FeedbackRequest(float(wrong)))
            twin.tell(key, wrong)
    return twin


def test_a_stream_with_a_gate_decides_as_the_gate_of_the_library() -> None:
    manager = managed()
    twin = play(manager, 300)
    stream = manager.streams["s"]
    assert stream.consistent
    assert stream.calibrator.state() == twin.state()


def test_the_summary_is_about_answers_and_the_verdict_is_the_gates() -> None:
    manager = managed()
    twin = play(manager, 400, late=0)
    summary, known = queries.summary(manager, "s"), twin.summary()
    assert summary.rounds == known.answered
    assert summary.risk == known.wrong_share
    assert summary.verdict.text == str(known.verdict)
    assert summary.certificate.bound.value == pytest.approx(known.limit / known.answered - 0.1)
    assert {group.group: group.rounds for group in summary.groups} == {
        str(name): topic.answered for name, topic in known.topics.items()
    }
    legal = next(group for group in summary.groups if group.group == "legal")
    topic = known.topics["legal"]
    assert legal.above == pytest.approx(min(topic.limit / topic.answered - 0.1, 0.9))


def test_withheld_answers_are_not_pending() -> None:
    manager = managed()
    assert decide(manager, "low", 0.1).answer is False
    assert decide(manager, "high", 0.99).answer is True
    assert list(manager.streams["s"].state.pending) == ["high"]
    assert queries.summary(manager, "s").pending == 1


def test_retries_have_no_effect() -> None:
    manager = managed()
    for key, confidence in (("low", 0.1), ("high", 0.99)):
        assert decide(manager, key, confidence) == decide(manager, key, confidence)
        with pytest.raises(ApiError, match="different body"):
            decide(manager, key, 0.5)
    first = manager.audit("s", "low", AuditRequest(True))
    assert manager.audit("s", "low", AuditRequest(True)) == first
    with pytest.raises(ApiError, match="already audited"):
        manager.audit("s", "low", AuditRequest(False))
    told = manager.feedback("s", "high", FeedbackRequest(1.0))
    assert manager.feedback("s", "high", FeedbackRequest(1.0)) == told
    assert manager.streams["s"].calibrator.summary().checked == 1.0


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        (lambda m: m.feedback("s", "low", FeedbackRequest(1.0)), 409, "report it as an audit"),
        (lambda m: m.audit("s", "high", AuditRequest(True)), 409, "report its loss instead"),
        (lambda m: m.audit("s", "none", AuditRequest(True)), 404, "no withheld answer"),
        (lambda m: m.feedback("s", "high", FeedbackRequest(0.5)), 422, "a loss of 1 or 0"),
        (lambda m: m.feedback("s", "high", FeedbackRequest(1.0, 0.5)), 422, "without a score"),
        (lambda m: m.predict("s", PredictRequest([0.5])), 422, "requires confidence"),
        (lambda m: m.predict("s", PredictRequest([0.5], scores=[1.0])), 422, "requires confidence"),
        (lambda m: queries.threshold_map(m, "s"), 422, "depend on the group"),
    ],
)
def test_what_a_gate_cannot_do_is_rejected(call: Any, status: int, message: str) -> None:
    manager = managed()
    decide(manager, "low", 0.1)
    decide(manager, "high", 0.99)
    before = manager.streams["s"].snapshot()
    with pytest.raises(ApiError, match=message) as error:
        call(manager)
    assert error.value.status == status
    assert manager.streams["s"].snapshot() == before


def test_an_answer_that_was_reported_cannot_be_audited() -> None:
    manager = managed()
    decide(manager, "high", 0.99)
    manager.feedback("s", "high", FeedbackRequest(0.0))
    with pytest.raises(ApiError, match="was not withheld by a gate"):
        manager.audit("s", "high", AuditRequest(True))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"loss_bound": 2.0}, "loss_bound applies to"),
        ({"score_range": [0.0, 1.0]}, "score_range applies to"),
        ({"initial_threshold": 0.5}, "initial_threshold applies to"),
        ({"set": {"kind": "interval"}}, "set applies to"),
        ({"rate": 2.0}, "rate applies to"),
        ({"memory": {"kind": "lattice"}}, "expected one of nodes"),
        ({"timeout": 5.0, "default_loss": 0.5}, "default_loss of a gate"),
    ],
)
def test_settings_of_other_methods_are_rejected(fields: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        managed(**fields)


def test_confidence_is_for_gates_only() -> None:
    manager = StreamManager(Limits(), lambda: 0.0)
    manager.create("s", AutoConfig(0.1))
    with pytest.raises(ApiError, match="method gate only"):
        manager.predict("s", PredictRequest(confidence=0.5))


def test_answers_without_feedback_expire_and_count_as_the_config_says() -> None:
    for loss, counted in ((None, 0), (1.0, 1)):
        now = 0.0
        manager = StreamManager(Limits(), lambda: now)  # noqa: B023
        config = {"alpha": 0.1, "method": "gate", "timeout": 5.0, "default_loss": loss}
        manager.create("s", read_config(config))
        manager.predict("s", PredictRequest(id="a", confidence=0.99))
        now = 10.0
        manager.expire()
        stream = manager.streams["s"]
        assert stream.consistent
        assert stream.state.rounds == stream.calibrator.summary().wrong == counted


def test_an_id_can_be_used_again_once_the_stream_has_forgotten_it() -> None:
    manager = managed(retain=1)
    for key in ("a", "b", "a"):
        assert decide(manager, key, 0.1).answer is False
    assert manager.streams["s"].consistent


def test_a_random_part_of_the_answers_bounds_all_of_them(tmp_path: Path) -> None:
    manager, twin, source = managed(), Gate(0.1), random.Random(0)
    for t in range(400):
        key, confidence = f"mail-{t}", source.uniform(0.9, 1.0)
        mine = twin.decide(np.array([0.5]), confidence=confidence, key=key)
        if not decide(manager, key, confidence).answer:
            continue
        if source.random() < 0.3:
            wrong = source.random() > confidence
            manager.feedback("s", key, FeedbackRequest(float(wrong), probability=0.3))
            twin.tell(mine, wrong, probability=0.3)
        else:
            first = manager.feedback("s", key, FeedbackRequest(probability=0.3))
            assert manager.feedback("s", key, FeedbackRequest(probability=0.3)) == first
            twin.forget(mine, probability=0.3)
    stream = manager.streams["s"]
    assert stream.consistent
    assert stream.calibrator.state() == twin.state()
    assert "confidence at most" in queries.summary(manager, "s").verdict.text
    assert queries.summary(manager, "s").expired == 0
    with contextlib.closing(EventStore(tmp_path)) as store:
        store.append(manager.uncommitted)
        assert store.load()["s"].snapshot() == stream.snapshot()


def test_a_probability_is_for_gates_and_for_answers_that_wait() -> None:
    manager = managed()
    manager.create("other", AutoConfig(0.1))
    manager.predict("other", PredictRequest(id="a"))
    for body in (FeedbackRequest(1.0, probability=0.5), FeedbackRequest(probability=0.5)):
        with pytest.raises(ApiError, match="method gate only") as error:
            manager.feedback("other", "a", body)
        assert error.value.status == 422
    decide(manager, "high", 0.99)
    with pytest.raises(ApiError, match="below 1 for an answer that was not looked at"):
        manager.feedback("s", "high", FeedbackRequest(probability=1.0))
    manager.feedback("s", "high", FeedbackRequest(probability=0.5))
    with pytest.raises(ApiError, match="already has the report that it was not looked at"):
        manager.feedback("s", "high", FeedbackRequest(1.0, probability=0.5))
    with pytest.raises(ValueError, match="probability belongs to a loss"):
        FeedbackRequest(y=1.0, probability=0.5)


def test_a_gate_survives_a_restart_from_events_and_from_a_snapshot(tmp_path: Path) -> None:
    manager = managed()
    play(manager, 60)
    with contextlib.closing(EventStore(tmp_path)) as store:
        store.append(manager.uncommitted)
        replayed = store.load()["s"]
    assert replayed.replay_differs == 0
    assert replayed.snapshot() == manager.streams["s"].snapshot()
    again = Stream.from_snapshot(replayed.snapshot())
    assert again.snapshot() == replayed.snapshot()
    manager.streams["s"] = again
    withheld = next(made.key for made in again.calibrator._records.withheld.values())
    manager.audit("s", withheld, AuditRequest(True))
    assert again.consistent


def test_a_gates_state_is_exported_and_imported() -> None:
    manager, other = managed(), managed()
    play(manager, 100, late=0)
    other.import_state("s", queries.export_state(manager, "s"))
    mine, theirs = (each.streams["s"] for each in (manager, other))
    assert theirs.calibrator.state() == mine.calibrator.state()
    assert theirs.consistent
    assert decide(other, "next", 0.5).threshold == decide(manager, "next", 0.5).threshold
    with pytest.raises(ApiError):
        other.import_state("s", Gate(0.2).state())


def test_the_client_decides_reports_and_audits_over_http(service: Inside) -> None:
    with Client(f"http://127.0.0.1:{service.port}") as client:
        client.create("mail", {"alpha": 0.05, "method": "gate"})
        sent = client.predict("mail", group="billing", confidence=0.99)
        kept = client.predict("mail", group=["legal", "gold"], confidence=0.3)
        assert (sent.answer, kept.answer) == (True, False)
        assert client.feedback("mail", sent.id, loss=0.0, probability=0.5).rounds == 1
        assert client.audit("mail", kept.id, wrong=True).rounds == 1
        summary = client.summary("mail")
        assert summary.config.method == "gate"
        assert (summary.rounds, summary.risk, summary.pending) == (1, 0.0, 0)
        assert "of 1 answer wrong" in summary.verdict.text
        assert client.history("mail").points[-1].risk == 0.0
        events = client.events("mail", after=0)
        kinds = [next(events).kind for _ in range(4)]
        events.close()
    assert kinds == ["predicted", "predicted", "feedback", "audited"]
