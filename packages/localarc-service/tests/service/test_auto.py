"""AutoLARC and Mondrian behind the service: scores, outcomes, groups, tickets and bounds."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import ARC, AutoLARC, Mondrian
from localarc_client.wire.config import ArcConfig, AutoConfig, LarcConfig, StreamConfig
from localarc_client.wire.config_parts import IntervalConfig, LabelSetConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.api import queries
from localarc_service.api.decoding import Decoder
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.stored.format import Pending
from localarc_service.streams.config_defaults import completed, is_same
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.methods import build_calibrator
from localarc_service.streams.outcomes import loss_and_score
from localarc_service.streams.stream import Stream
from service.service_in_thread import Inside


def managed(**fields: Any) -> StreamManager:
    """A manager with one stream, s."""
    manager = StreamManager(Limits(), lambda: 0.0)
    manager.create("s", read_config({"alpha": 0.1} | fields))
    return manager


def predict(manager: StreamManager, key: str, **body: Any) -> float:
    return manager.predict("s", PredictRequest(id=key, **body)).threshold


def report(manager: StreamManager, key: str, **body: Any) -> int:
    return manager.feedback("s", key, FeedbackRequest(**body)).rounds


# ---- which method a stream has ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, AutoLARC),
        ({"features": 2, "set": {"kind": "interval"}}, AutoLARC),
        ({"method": "arc"}, ARC),
        ({"method": "mondrian"}, Mondrian),
    ],
)
def test_a_new_stream_without_a_kernel_is_auto_unless_it_says_otherwise(
    fields: dict[str, Any], kind: type
) -> None:
    assert type(managed(**fields).streams["s"].calibrator) is kind


def test_the_settings_of_auto_are_passed_on() -> None:
    fields = {"limits": [0, None], "promise": "at most", "evenness": 2, "unit": 0.5}
    more = {"loss_bound": 2, "initial_threshold": 0.25, "memory": {"kind": "nodes"}}
    cal = managed(**fields, **more).streams["s"].calibrator
    expected = AutoLARC(
        0.1, limits=(0.0, None), promise="at most", evenness=2.0, unit=0.5, loss_bound=2.0,
        initial_threshold=0.25,
    )  # fmt: skip
    assert cal.settings == expected.settings


def test_a_floor_is_passed_on_and_makes_the_bound_one_sided() -> None:
    manager = managed(method="arc", floor=0.0, score_range=[0, 1])
    stream = manager.streams["s"]
    assert stream.calibrator.settings.floor == 0.0
    for t in range(50):
        predict(manager, f"p{t}")
        report(manager, f"p{t}", loss=0.0)
    tightest = queries.summarize(stream).certificate.tightest
    assert tightest is not None
    assert (tightest.side, tightest.holds) == ("above", True)
    assert "above the target" in str(tightest)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rate": 0.5}, "rate applies to method arc, larc or mondrian, not to auto"),
        ({"method": "auto", "floor": 0.0}, "floor applies to"),
        ({"method": "arc", "unit": 1.0}, "unit applies to method auto, not to arc"),
        ({"method": "mondrian", "kernel": {}, "features": 1}, "kernel applies to method larc"),
        ({"method": "larc"}, "larc requires a kernel"),
        (
            {"method": "arc", "memory": {"kind": "nodes"}},
            "memory applies to method auto, larc or gate",
        ),
        ({"memory": {"kind": "lattice"}}, "at `$.memory.kind`: expected one of nodes"),
        ({"limits": [1, 0]}, "limits must be ascending"),
        ({"score_range": [1, 0]}, "score_range"),
        ({"evenness": 0}, "evenness"),
    ],
)
def test_fields_of_another_method_are_rejected(fields: dict[str, Any], words: str) -> None:
    decoder: Decoder[StreamConfig] = Decoder(StreamConfig)
    with pytest.raises(ApiError) as error:
        StreamManager(Limits(), lambda: 0.0).create(
            "s", decoder(json.dumps({"alpha": 0.1} | fields).encode())
        )
    assert error.value.status == 422
    assert words in error.value.detail


def test_a_config_without_a_method_is_larc_with_a_kernel_else_auto() -> None:
    """A program that creates its stream at every start need not name the method."""
    assert isinstance(read_config({"alpha": 0.1}), AutoConfig)
    assert isinstance(read_config({"alpha": 0.1, "kernel": {}, "features": 1}), LarcConfig)
    manager = managed()
    status, created = manager.create("s", read_config({"alpha": 0.1}))
    assert (status, created.config.method) == (200, "auto")
    with pytest.raises(ApiError, match="different config"):
        manager.create("s", ArcConfig(0.1))
    assert not is_same(created.config, AutoConfig(0.2))


# ---- scores and outcomes ---------------------------------------------------------------------


def test_a_loss_without_a_score_is_rejected_with_the_ways_out() -> None:
    manager = managed()
    predict(manager, "a")
    before = manager.streams["s"].snapshot()
    with pytest.raises(ApiError) as error:
        report(manager, "a", loss=1.0)
    assert error.value.status == 422
    assert all(word in error.value.detail for word in ("score", "outcome", "unit", "limits"))
    assert manager.streams["s"].snapshot() == before
    assert report(manager, "a", loss=1.0, score=0.5) == 1


def test_losses_alone_are_enough_with_a_unit_and_limits() -> None:
    manager = managed(unit=0.1, limits=[0.0, None])
    predict(manager, "a")
    assert report(manager, "a", loss=1.0) == 1


GROUPS: list[Any] = ["a", ["a", "b"], None]


def test_the_calibrator_learns_what_the_library_would() -> None:
    """Scores, groups and late losses reach the calibrator as its own ask and tell do."""
    manager, twin = managed(features=2), AutoLARC(0.1)
    source, waiting = random.Random(3), {}
    for t in range(120):
        x, group = [source.random(), source.random()], source.choice(GROUPS)
        ticket = twin.ask(x, groups=() if group is None else group)
        waiting[f"p{t}"] = ticket, source.random() * x[0]
        assert predict(manager, f"p{t}", x=x, group=group) == ticket.threshold
        while len(waiting) > 5:
            key = source.choice(list(waiting))
            ticket, score = waiting.pop(key)
            loss, harmless = float(score > ticket.threshold), source.random() < 0.1
            twin.tell(ticket, loss, -math.inf if harmless else score)
            report(manager, key, loss=loss, score="-inf" if harmless else score)
    assert manager.streams["s"].calibrator.state() == twin.state()


def pending(threshold: float, scores: list[float]) -> Pending:
    held = np.array(scores).tobytes()
    return Pending(1, 0.0, b"", threshold, b"", None, None, held, None, True)


@pytest.mark.parametrize(
    ("kind", "scores", "outcome", "score"),
    [
        (IntervalConfig(), [3.0], 4.5, 1.5),
        (IntervalConfig(), [1.0, 3.0], 2.5, -0.5),
        (LabelSetConfig(), [0.2, 0.8], 1.0, 0.8),
        (LabelSetConfig(["a", "b"], score="probability"), [0.25, 0.75], "b", -0.75),
        (LabelSetConfig(["a", "b", "c"], score="cumulative"), [0.2, 0.5, 0.3], "c", 0.8),
    ],
)
def test_an_outcome_has_the_score_and_the_loss_of_its_set(
    kind: Any, scores: list[float], outcome: Any, score: float
) -> None:
    config = completed(AutoConfig(0.1, loss_bound=2.0, set=kind))
    for threshold in (score, float(np.nextafter(score, -9.0))):
        loss, found = loss_and_score(config, pending(threshold, scores), outcome)
        assert found == pytest.approx(score)
        assert loss == (0.0 if found <= threshold else 2.0)


@pytest.mark.parametrize(
    ("kind", "scores", "outcome", "words"),
    [
        (None, None, 1.0, "create the stream with set"),
        (IntervalConfig(), None, 1.0, "send scores with the prediction"),
        (IntervalConfig(), [1.0], "a", "is a number"),
        (LabelSetConfig(["a", "b"]), [1.0, 2.0], "c", "one of the labels of the stream's set"),
        (LabelSetConfig(["a", "b"]), [1.0, 2.0], 0.0, "one of the labels of the stream's set"),
        (LabelSetConfig(), [1.0, 2.0], 2.0, "a position from 0 to 1"),
        (LabelSetConfig(), [1.0, 2.0], 0.5, "a position from 0 to 1"),
    ],
)
def test_an_outcome_that_the_set_cannot_have_is_rejected(
    kind: Any, scores: Any, outcome: Any, words: str
) -> None:
    manager = StreamManager(Limits(), lambda: 0.0)
    manager.create("s", AutoConfig(0.1, set=kind))
    predict(manager, "a", scores=scores)
    with pytest.raises(ApiError, match=words) as error:
        report(manager, "a", outcome=outcome)
    assert error.value.status == 422
    assert list(manager.streams["s"].state.pending) == ["a"]


def test_a_report_can_be_retried_and_not_changed() -> None:
    manager = managed(set={"kind": "interval"})
    for key in ("a", "b"):
        predict(manager, key, scores=[1.0])
    assert report(manager, "a", outcome=1.5) == report(manager, "a", outcome=1.5) == 1
    assert report(manager, "b", loss=1.0, score=0.5) == report(manager, "b", loss=1.0, score=0.5)
    for key, other, words in (
        ("a", {"outcome": 1.0}, "has y = 1.5"),
        ("a", {"loss": 1.0}, "has y = 1.5"),
        ("b", {"loss": 1.0}, "with the score 0.5"),
        ("b", {"loss": 1.0, "score": 0.4}, "with the score 0.5"),
        ("b", {"outcome": 1.0}, "with the score 0.5"),
    ):
        with pytest.raises(ApiError, match=words) as error:
            report(manager, key, **other)
        assert error.value.status == 409


@pytest.mark.slow
@pytest.mark.parametrize("body", [{}, {"loss": 1, "outcome": 1}, {"outcome": 1, "score": 1}])
def test_a_report_says_one_thing(service: Inside, body: dict[str, Any]) -> None:
    service.create(method="auto", set={"kind": "interval"})
    service.predict("a", scores=[1.0])
    path = "/v1/streams/s/predictions/a/feedback"
    assert service.http.call("PUT", path, body)[0] == 422
    assert service.feedback("a", outcome=3) == (200, {"seq": 2, "rounds": 1})


# ---- tickets ---------------------------------------------------------------------------------

steps = st.lists(
    st.tuples(st.sampled_from("ptex"), st.integers(0, 6), st.floats(0, 1)), max_size=40
)


@pytest.mark.parametrize("method", ["auto", "mondrian"])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(given_steps=steps)
def test_tickets_and_pending_predictions_are_the_same(method: str, given_steps: list[Any]) -> None:
    """Each pending prediction has the ticket of its threshold, whatever happens."""
    manager = managed(method=method, features=1, timeout=9.0)
    stream = manager.streams["s"]
    exported = stream.calibrator.state()
    for kind, key, value in given_steps:
        if kind == "p" and f"p{key}" not in {**stream.state.pending, **stream.state.answered}:
            predict(manager, f"p{key}", x=[value], group="ab"[key % 2])
        elif kind == "t" and f"p{key}" in stream.state.pending:
            report(manager, f"p{key}", loss=float(value > 0.5), score=value)
        elif kind == "e":
            exported = stream.calibrator.state()
        elif kind == "x":
            manager.import_state("s", exported)
        held = {each.ticket: each.threshold for each in stream.state.pending.values()}
        assert held == stream.method.tickets()
        assert stream.consistent
        stream = manager.streams["s"] = Stream.from_snapshot(stream.snapshot())


@pytest.mark.slow
def test_a_stream_that_is_stored_and_resumed_again_and_again_stays_the_same() -> None:
    """Also with many pending predictions, in a varying number of groups."""
    live, resumed, source = managed(features=2), managed(features=2), random.Random(0)
    for t in range(200):
        x, group = [source.random(), source.random()], source.choice(GROUPS)
        assert predict(live, f"p{t}", x=x, group=group) == predict(
            resumed, f"p{t}", x=x, group=group
        )
        while len(live.streams["s"].state.pending) > 20 and source.random() < 0.6:
            key, score = source.choice(list(live.streams["s"].state.pending)), source.random()
            for manager in (live, resumed):
                report(manager, key, loss=float(score < 0.3), score=score)
        if t % 7 == 0:
            resumed.streams["s"] = Stream.from_snapshot(resumed.streams["s"].snapshot())
        assert resumed.streams["s"].snapshot() == live.streams["s"].snapshot()


def test_an_expired_prediction_is_forgotten_by_the_calibrator() -> None:
    now = [0.0]
    manager = StreamManager(Limits(), lambda: now[0])
    manager.create("s", AutoConfig(0.1, timeout=5.0))
    predict(manager, "a")
    now[0] = 6.0
    manager.expire()
    assert manager.streams["s"].calibrator.pending == ()
    assert manager.streams["s"].consistent


def test_an_import_expires_the_predictions_that_the_state_does_not_know() -> None:
    manager = managed()
    predict(manager, "known")
    state = manager.streams["s"].calibrator.state()
    predict(manager, "unknown")
    manager.import_state("s", state)
    assert list(manager.streams["s"].state.pending) == ["known"]
    assert report(manager, "known", loss=0.0, score=0.1) == 1
    with pytest.raises(ApiError) as error:
        report(manager, "unknown", loss=0.0, score=0.1)
    assert error.value.status == 410


def test_a_ticket_that_was_lost_is_detected() -> None:
    manager = managed()
    predict(manager, "a")
    stream = manager.streams["s"]
    assert stream.consistent
    stream.calibrator.forget(stream.state.pending["a"].ticket)
    assert not stream.consistent


def test_a_loss_that_only_the_calibrator_counted_is_detected() -> None:
    manager = managed()
    stream = manager.streams["s"]
    stream.calibrator.update([], 1.0, 0.5)
    assert not stream.consistent


# ---- groups and status -----------------------------------------------------------------------


def run(manager: StreamManager, rounds: int, **more: Any) -> None:
    """Misses in two overlapping groups, one of which has larger scores."""
    source = random.Random(0)
    for t in range(rounds):
        group = ["all"] if source.random() < 0.5 else ["all", "City"]
        made = predict(manager, f"p{t}", group=group, **more)
        score = source.random() * len(group)
        report(manager, f"p{t}", loss=float(score > made), score=score)


@pytest.mark.slow
def test_the_status_of_auto_has_its_verdict_and_the_bounds_of_each_group() -> None:
    manager = managed()
    run(manager, 1500)
    summary = queries.summarize(manager.streams["s"])
    assert summary.verdict.state == "kept"
    certificate = manager.streams["s"].calibrator.certificate()
    assert summary.certificate.bound.name == "theorem E"
    assert summary.certificate.bound.value == certificate.bound.value
    assert summary.certificate.tightest == summary.certificate.bounds[0]
    assert {bound.side for bound in summary.certificate.bounds} == {"both", "above", "below"}
    city, everyone = summary.groups
    assert (city.group, everyone.group, everyone.rounds) == ("City", "all", 1500 - 9)
    assert city.above == certificate.groups["City"].above.value
    assert city.below == certificate.groups["City"].below.value
    assert city.risk - 0.1 <= (city.above or 0.0)
    assert summary.memory.startswith("Nodes(")
    assert 0 < summary.memory_bytes < 2**24
    assert {point.bound for point in queries.history(manager, "s").response().points} == {None}


def test_a_promise_from_above_is_shown_as_such() -> None:
    manager = managed(promise="at most", limits=[None, 3.0])
    run(manager, 200)
    bound = queries.summarize(manager.streams["s"]).certificate.bound
    assert (bound.side, bound.holds, bound.one_sided) == ("above", True, True)
    assert str(bound).startswith("theorem E, above: at most 0.")


def test_a_ceiling_that_fails_is_a_warning_in_the_status() -> None:
    manager = managed(limits=[None, 0.5])
    run(manager, 200)
    warnings = manager.streams["s"].warnings
    assert any("the ceiling cost more than alpha" in text for text in warnings)
    assert not queries.summarize(manager.streams["s"]).certificate.bound.holds


def test_mondrian_has_a_threshold_and_a_bound_for_each_group() -> None:
    manager = managed(method="mondrian", score_range=[0, 2])
    source = random.Random(0)
    for t in range(600):
        group = "City" if t % 2 else "Country"
        made = predict(manager, f"p{t}", group=group)
        score = source.random() * (1 + t % 2)
        report(manager, f"p{t}", loss=float(score > made))
    stream = manager.streams["s"]
    city, country = (stream.method.threshold(np.empty(0), group) for group in ("City", "Country"))
    assert city > 1.2 > 1.1 > country
    summary = queries.summarize(stream)
    for found in summary.groups:
        assert found.above == found.below
        assert found.above == stream.certificate().groups[found.group].bound.value
    for bad in (None, ["City"]):
        with pytest.raises(ApiError, match="send one group"):
            predict(manager, "x", group=bad)


def test_overlapping_groups_count_against_the_limit() -> None:
    manager = StreamManager(Limits(groups=2), lambda: 0.0)
    manager.create("s", AutoConfig(0.1))
    predict(manager, "a", group=["a", "b", "a"])
    with pytest.raises(ApiError) as error:
        predict(manager, "b", group=["b", "c"])
    assert error.value.status == 429
    assert sorted(manager.streams["s"].state.groups) == ["a", "b"]


def test_a_map_of_auto_is_its_threshold_function(service: Inside) -> None:
    service.create(method="auto", features=1)
    for t in range(40):
        service.predict(f"p{t}", x=[t / 40])
        service.feedback(f"p{t}", float(t % 9 == 0), score=0.5 + t / 40)
    found = service.get("/map?first=0&size=5")
    cal = AutoLARC.from_state(service.http.state("s"))
    values = np.array(found["first_values"])[:, None]
    assert found["thresholds"] == [cal.threshold(values).tolist()]


def test_the_stored_settings_of_auto_do_not_follow_the_library() -> None:
    config = completed(AutoConfig(0.1))
    cal = build_calibrator(config)
    assert isinstance(cal, AutoLARC)
    assert cal.settings.max_bytes == 9_000_000
