"""A stream is what its events make of it: live, replayed, or resumed from a snapshot."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import serialization
from localarc.serialization import StateError
from localarc_client.wire.config import AutoConfig, StreamConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.predictions import FeedbackOperation, PredictOperation, PredictRequest
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.stored import events
from localarc_service.stored.events import (
    UNKNOWN,
    Event,
    FeedbackReceived,
    PredictionExpired,
    PredictionMade,
    StateImported,
    StreamCreated,
)
from localarc_service.streams.config_defaults import completed
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.state import MAX_POINTS, Point, StreamState
from localarc_service.streams.stream import Stream

CONFIGS: dict[str, dict[str, Any]] = {
    "arc": {"alpha": 0.1},
    "lattice": {"alpha": 0.1, "kernel": {"length_scale": 0.3}, "features": 1},
    "dictionary": {"alpha": 0.2, "kernel": {"kind": "laplace"}, "features": 1, "clip": 1.0},
    "last": {"alpha": 0.2, "kernel": {}, "features": 1, "memory": {"kind": "keep-last", "m": 3}},
    "all": {"alpha": 0.2, "kernel": {}, "features": 1, "memory": {"kind": "keep-all"}},
    "floor": {"alpha": 0.1, "method": "arc", "floor": -0.5},
    "mondrian": {"alpha": 0.1, "method": "mondrian", "rate": 0.5},
    "auto": {"alpha": 0.1, "method": "auto", "features": 1},
    "auto, losses only": {"alpha": 0.1, "method": "auto", "unit": 0.3, "limits": [0.0, 2.0]},
    "auto, upper side": {"alpha": 0.1, "method": "auto", "features": 2, "promise": "at most"},
}
each_config = pytest.mark.parametrize("given_config", CONFIGS.values(), ids=CONFIGS.keys())


def config(**fields: Any) -> StreamConfig:
    usual = {} if "kernel" in fields else {"method": "arc"}
    return read_config(usual | fields)


def fresh(given_config: StreamConfig) -> Stream:
    return Stream.create("s", StreamCreated(0.0, completed(given_config)))


def played(given_config: StreamConfig, count: int, seed: int = 0) -> tuple[Stream, list[Event]]:
    """A stream with late, missing and default losses, and the events that made it."""
    source = random.Random(seed)
    stream = fresh(given_config)
    made: list[Event] = []
    for t in range(count):
        x = [source.random() for _ in range(given_config.features)]
        group: Any = source.choice(["a", "b", None if given_config.method == "arc" else "c"])
        if given_config.method == "auto":
            group = source.choice(["a", ["a", "b"], ["c", "b", "c"], None])
        made.append(PredictionMade(float(t), f"p{t}", x, UNKNOWN, group))
        stream.apply(made[-1])
        while len(stream.state.pending) > 3:
            key = source.choice(list(stream.state.pending))
            kind = source.random()
            if kind < 0.8:
                made.append(received(given_config, t + 0.5, key, source.random()))
            else:
                made.append(PredictionExpired(t + 0.5, key, 1.0 if kind < 0.9 and t > 9 else None))
            stream.apply(made[-1])
    return stream, made


def received(given_config: StreamConfig, at: float, key: str, value: float) -> FeedbackReceived:
    learns_from_scores = isinstance(given_config, AutoConfig) and given_config.unit is None
    score: Any = (value if value < 0.9 else "-inf") if learns_from_scores else None
    return FeedbackReceived(at, key, float(value < 0.3), score)


@pytest.mark.slow
@each_config
def test_replay_makes_the_same_stream(given_config: dict[str, Any]) -> None:
    live, made = played(config(**given_config), 60)
    again = fresh(config(**given_config))
    for event in made:
        again.apply(events.decode(events.encode(event)))
    assert again.replay_differs == 0
    assert again.snapshot() == live.snapshot()
    assert live.consistent


@pytest.mark.slow
@each_config
def test_a_stream_resumes_from_a_snapshot_bit_for_bit(given_config: dict[str, Any]) -> None:
    live, made = played(config(**given_config), 60)
    for cut in (0, 1, len(made) // 2, len(made)):
        first = fresh(config(**given_config))
        for event in made[:cut]:
            first.apply(event)
        resumed = Stream.from_snapshot(first.snapshot())
        for event in made[cut:]:
            resumed.apply(event)
        assert resumed.replay_differs == 0
        assert resumed.snapshot() == live.snapshot()


operations = st.lists(
    st.one_of(
        st.tuples(st.just("predict"), st.integers(0, 5), st.floats(-2, 2)),
        st.tuples(st.just("feedback"), st.integers(0, 5), st.floats(0, 1)),
        st.tuples(st.just("wait"), st.just(0), st.floats(0, 3)),
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(operations, st.lists(st.integers(0, 29), max_size=10))
def test_retries_change_nothing(given_ones: list[Any], repeated: list[int]) -> None:
    """Repeating any request at once has no effect, in any order of requests."""
    ends = []
    for again in (set(), set(repeated)):
        now = [0.0]
        manager = StreamManager(Limits(), lambda now=now: now[0])  # type: ignore[misc]
        manager.create("s", config(alpha=0.1, kernel={}, features=1, timeout=5, retain=3))
        for number, (kind, key, value) in enumerate(given_ones):
            if kind == "wait":
                now[0] += value
                manager.expire()
                continue
            for _ in range(1 + (number in again)):
                manager.batch([operation(kind, key, value)])
        rows = [events.encode(write.event) for write in manager.uncommitted]
        ends.append((rows, manager.streams["s"].snapshot()))
    assert ends[0] == ends[1]


def operation(kind: str, key: int, value: float) -> PredictOperation | FeedbackOperation:
    if kind == "predict":
        return PredictOperation(stream="s", x=[value], id=f"p{key}")
    return FeedbackOperation("s", f"p{key}", value)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(operations)
def test_the_uncommitted_events_are_the_whole_truth(given_ones: list[Any]) -> None:
    """Stored events rebuild the same stream; rejected requests leave no trace in it."""
    now = [0.0]
    manager = StreamManager(Limits(pending=4), lambda: now[0])
    manager.create("s", config(alpha=0.1, kernel={}, features=1, timeout=5, default_loss=1.0))
    for kind, key, value in given_ones:
        if kind == "wait":
            now[0] += value
            manager.expire()
        else:
            manager.batch([operation(kind, key, value)])
    first, *rest = manager.uncommitted
    assert isinstance(first.event, StreamCreated)
    again = Stream.create("s", first.event)
    for write in rest:
        assert write.event is not None
        change = again.apply(write.event)
        assert (change, again.state.seq) == (write.change, write.seq)
    assert again.snapshot() == manager.streams["s"].snapshot()


def replay_with(factor: float) -> Stream:
    """A stream after a replay in which the threshold of one event was multiplied."""
    _, made = played(config(alpha=0.1), 5)
    wrong = next(event for event in made if isinstance(event, PredictionMade) and event.at == 4)
    wrong.threshold *= factor
    again = fresh(config(alpha=0.1))
    for event in made:
        again.apply(event)
    return again


def test_a_threshold_that_differs_on_replay_is_detected() -> None:
    again = replay_with(1 + 1e-8)
    assert (again.replay_differs, again.replay_rounded) == (1, 0)
    assert Stream.from_snapshot(again.snapshot()).replay_differs == 1


def test_rounding_on_replay_is_told_from_damage() -> None:
    again = replay_with(1 + 1e-15)
    assert (again.replay_differs, again.replay_rounded) == (0, 1)


def test_rounding_is_relative_to_the_thresholds_of_the_stream() -> None:
    stream, made = played(config(alpha=0.1), 30)
    largest = max(abs(event.threshold) for event in made if isinstance(event, PredictionMade))
    stream._compare(1e-12, 1e-12 + 0.5e-9 * largest)  # terms that cancel
    assert (stream.replay_differs, stream.replay_rounded) == (0, 1)
    stream._compare(1e-12, 1e-12 + 2e-9 * largest)
    assert (stream.replay_differs, stream.replay_rounded) == (1, 1)


def test_a_loss_that_was_not_counted_is_detected() -> None:
    stream, _ = played(config(alpha=0.1), 20)
    assert stream.consistent
    stream.calibrator.update(None, 1.0)
    assert not stream.consistent


def test_a_lost_update_is_detected_even_if_the_rounds_agree() -> None:
    stream, _ = played(config(alpha=0.1), 20)
    stream.state.loss_sum += 0.5
    assert not stream.consistent


def test_the_state_of_another_config_is_rejected() -> None:
    stream, _ = played(config(**CONFIGS["lattice"]), 20)
    other, _ = played(config(**CONFIGS["dictionary"]), 20)
    before = stream.snapshot()
    for bad in (other.calibrator.state(), b"", stream.snapshot(), stream.calibrator.state()[:-1]):
        with pytest.raises(StateError):
            stream.apply(StateImported(0.0, bad))
    assert stream.snapshot() == before
    wide, _ = played(config(**CONFIGS["lattice"] | {"features": 2}), 20)
    with pytest.raises(ValueError, match="feature"):
        stream.apply(StateImported(0.0, wide.calibrator.state()))
    assert stream.snapshot() == before


def test_a_forged_state_is_rejected() -> None:
    """A checksum is not a signature: the content is validated as well."""
    stream, _ = played(config(**CONFIGS["all"]), 20)
    kind, content, arrays = serialization.decode(stream.calibrator.state())
    before = stream.snapshot()
    broken: list[tuple[Any, Any]] = [
        ({}, arrays),
        (content | {"trace": {}}, arrays),
        (content | {"trace": content["trace"] | {"loss_sum": 99.0}}, arrays),
        (content | {"dimension": 3}, arrays),
        (content, {}),
        (content, {name: array * np.nan for name, array in arrays.items() if array.dtype == float}),
    ]
    for bad_content, bad_arrays in broken:
        with pytest.raises(ValueError):  # noqa: PT011 (each has its own message)
            stream.apply(StateImported(0.0, serialization.encode(kind, bad_content, bad_arrays)))
        assert stream.snapshot() == before


def test_a_threshold_that_is_not_finite_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = StreamManager(Limits(), lambda: 0.0)
    manager.create("s", config(alpha=0.1))
    monkeypatch.setattr(manager.streams["s"].calibrator, "threshold", lambda x, groups: math.inf)
    with pytest.raises(ApiError, match="the threshold at this input is inf"):
        manager.predict("s", PredictRequest())
    assert len(manager.uncommitted) == 1


def test_old_answers_are_forgotten_and_pending_ones_are_not() -> None:
    stream = fresh(config(alpha=0.1, retain=2))
    for t in range(6):
        stream.apply(PredictionMade(t, f"p{t}", [], UNKNOWN))
    for t in range(4):
        stream.apply(FeedbackReceived(10 + t, f"p{t}", 0.5))
    assert list(stream.state.answered) == ["p2", "p3"]
    assert list(stream.state.pending) == ["p4", "p5"]


@given(st.integers(0, 5000))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_the_history_stays_short_and_evenly_spaced(count: int) -> None:
    state = StreamState(completed(config(alpha=0.1)), 0.0)
    for t in range(1, count + 1):
        state.rounds = t
        if state.wants_point:
            state.add_point(Point(t, float(t), 0.0, 0.0, None, None, 0, 0, 0))
    rounds, stride = state.history.rounds, state.history.stride
    assert len(rounds) < MAX_POINTS
    assert rounds == list(range(stride, count + 1, stride))
    assert state.history.at == [float(t) for t in rounds]
    assert [point.rounds for point in state.points()] == rounds
    assert count < 2 * MAX_POINTS or len(rounds) >= MAX_POINTS // 2 - 1
