"""The status of a stream leads with its verdict, and warns about what goes wrong silently."""

from __future__ import annotations

import random
from typing import Any

import pytest

from localarc_client.wire.config_reading import read_config
from localarc_service.api import queries, stream_list
from localarc_service.limits import Limits
from localarc_service.stored.events import UNKNOWN, FeedbackReceived, PredictionMade, StreamCreated
from localarc_service.streams.config_defaults import completed
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream


def stream_of(**config: Any) -> Stream:
    usual = {"alpha": 0.1, "method": "arc"}
    stored = completed(read_config(usual | config))
    return Stream.create("s", StreamCreated(0.0, stored))


def play(
    stream: Stream, scores: list[float], groups: list[str] | None = None, lag: int = 0
) -> Stream:
    """Predict in order; each loss arrives after `lag` more predictions."""
    thresholds: list[float] = []
    for t, _ in enumerate(scores):
        group = groups[t] if groups else None
        stream.apply(PredictionMade(float(t), f"p{t}", [], UNKNOWN, group))
        thresholds.append(stream.state.pending[f"p{t}"].threshold)
        if t >= lag:
            loss = float(scores[t - lag] > thresholds[t - lag])
            stream.apply(FeedbackReceived(float(t), f"p{t - lag}", loss))
    return stream


def uniform(rounds: int) -> list[float]:
    source = random.Random(0)
    return [source.random() for _ in range(rounds)]


ARC_CONFIG = {"features": 0, "score_range": [0.0, 1.0]}


def test_a_new_stream_is_too_early_to_judge() -> None:
    stream = stream_of(**ARC_CONFIG)
    assert (stream.verdict.state, stream.warnings) == ("too early", ())


def test_a_calm_stream_is_kept_and_silent() -> None:
    summary = queries.summarize(play(stream_of(**ARC_CONFIG), uniform(2000)))
    assert summary.verdict.state == "kept"
    assert summary.verdict.text.startswith("Misses ")
    assert summary.warnings == []


def test_the_status_leads_with_the_worst_group() -> None:
    scores = uniform(2000)
    groups = ["City" if score > 0.7 else "Country" for score in scores]
    summary = queries.summarize(play(stream_of(**ARC_CONFIG), scores, groups))
    assert summary.verdict.state == "not kept"
    assert summary.verdict.text.startswith("City misses 3")


def test_the_list_of_streams_has_every_verdict() -> None:
    manager = StreamManager(Limits(), lambda: 0.0)
    manager.streams["s"] = stream = play(stream_of(**ARC_CONFIG), uniform(500))
    (item,) = stream_list.streams(manager).streams
    summary = queries.summarize(stream)
    assert (item.verdict, item.warnings) == (summary.verdict, summary.warnings)


def test_a_rate_that_is_too_small_is_a_warning_in_the_status() -> None:
    scores = [40.0 * score for score in uniform(1500)]
    stream = play(stream_of(features=0), scores)
    (warning,) = stream.warnings
    assert warning.startswith("rate=1 is small, thresholds are still rising")
    assert "Try rate=" in warning


def test_forecasts_24_steps_ahead_with_the_default_rate_are_a_warning_in_the_status() -> None:
    stream = play(stream_of(**ARC_CONFIG), uniform(400), lag=24)
    (warning,) = stream.warnings
    assert warning.startswith("rate=1 is large for 24 pending losses")
    assert warning.endswith("Try rate=0.1.")
    calmer = stream_of(**ARC_CONFIG, rate={"eta": 0.1})
    assert play(calmer, uniform(400), lag=24).warnings == ()


def test_a_verdict_is_not_kept_in_memory_after_a_change() -> None:
    stream = play(stream_of(**ARC_CONFIG), uniform(2000))
    before = stream.verdict
    stream.calibrator._constant.loss_sum -= 1.0  # no event says so
    assert (before.state, stream.verdict.state) == ("kept", "inconsistent")


def test_the_service_never_raises_a_warning_as_an_error() -> None:
    stream = play(stream_of(features=0), [1000.0] * 600)  # warnings are errors in tests
    assert stream.consistent
    again = Stream.from_snapshot(stream.snapshot())
    again.calibrator.partial_fit([[0.0]] * 600, [1.0] * 600)


def test_the_history_shows_no_bound_that_the_risk_has_passed() -> None:
    manager = StreamManager(Limits(), lambda: 0.0)
    manager.streams["s"] = stream = play(stream_of(**ARC_CONFIG), uniform(2000))
    assert queries.history(manager, "s").response().points[-1].bound is not None
    stream.state.history.risk[-1] = 1.0
    assert queries.history(manager, "s").response().points[-1].bound is None


def test_a_broken_assumption_is_a_warning_in_the_status() -> None:
    stream = play(stream_of(**ARC_CONFIG), [2.0] * 300)  # above the stated range
    assert any("a full set cost more than alpha" in text for text in stream.warnings)


def test_the_tightest_bound_comes_first() -> None:
    certificate = queries.summarize(play(stream_of(**ARC_CONFIG), uniform(2000))).certificate
    assert certificate.tightest is not None
    assert certificate.bounds[0] == certificate.tightest
    holding = [b.value for b in certificate.bounds if b.holds and b.value is not None]
    assert certificate.tightest.value == pytest.approx(min(holding))
