"""A stream is what its entries make of it: live, replayed, or resumed from a snapshot."""

from __future__ import annotations

import math
import random
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localarc import serialization
from localarc.serialization import StateError
from localarc.service.api.errors import Refusal
from localarc.service.limits import Limits
from localarc.service.storage import events
from localarc.service.storage.events import (
    AnyEntry,
    Creation,
    Expiry,
    Feedback,
    Import,
    Prediction,
)
from localarc.service.streams.history import MOST_POINTS, Series
from localarc.service.streams.manager import Desk
from localarc.service.streams.stream import Stream
from localarc.wire.config import StreamConfig
from localarc.wire.predictions import FeedbackOperation, PredictOperation, PredictRequest

CONFIGS: dict[str, dict[str, Any]] = {
    "arc": {"alpha": 0.1},
    "lattice": {"alpha": 0.1, "kernel": {"length_scale": 0.3}, "features": 1},
    "dictionary": {"alpha": 0.2, "kernel": {"kind": "laplace"}, "features": 1, "clip": 1.0},
    "last": {"alpha": 0.2, "kernel": {}, "features": 1, "memory": {"kind": "keep-last", "m": 3}},
    "all": {"alpha": 0.2, "kernel": {}, "features": 1, "memory": {"kind": "keep-all"}},
}
each_config = pytest.mark.parametrize("given_config", CONFIGS.values(), ids=CONFIGS.keys())


def config(**fields: Any) -> StreamConfig:
    return msgspec.convert(fields, StreamConfig)


def fresh(given_config: StreamConfig) -> Stream:
    return Stream.created("s", Creation(0.0, given_config))


def played(given_config: StreamConfig, count: int, seed: int = 0) -> tuple[Stream, list[AnyEntry]]:
    """A stream with late, missing and defaulted losses, and the entries that made it."""
    source = random.Random(seed)
    stream = fresh(given_config)
    made: list[AnyEntry] = []
    for t in range(count):
        x = [source.random() for _ in range(given_config.features)]
        group = source.choice(["a", "b", None])
        made.append(Prediction(float(t), f"p{t}", x, stream.threshold(x), group))
        stream.apply(made[-1])
        while len(stream.book.pending) > 3:
            key = source.choice(list(stream.book.pending))
            kind = source.random()
            if kind < 0.8:
                made.append(Feedback(t + 0.5, key, float(source.random() < 0.3)))
            else:
                made.append(Expiry(t + 0.5, key, 1.0 if kind < 0.9 else None))
            stream.apply(made[-1])
    return stream, made


@each_config
def test_replay_makes_the_same_stream(given_config: dict[str, Any]) -> None:
    live, made = played(config(**given_config), 60)
    again = fresh(config(**given_config))
    for entry in made:
        again.replay(events.decode(events.encode(entry)))
    assert again.replay_differs == 0
    assert again.snapshot() == live.snapshot()
    assert live.healthy


@each_config
def test_a_snapshot_goes_on_bit_for_bit(given_config: dict[str, Any]) -> None:
    live, made = played(config(**given_config), 60)
    for cut in (0, 1, len(made) // 2, len(made)):
        first = fresh(config(**given_config))
        for entry in made[:cut]:
            first.apply(entry)
        resumed = Stream.restored(first.snapshot())
        for entry in made[cut:]:
            resumed.replay(entry)
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
def test_repeats_anywhere_change_nothing(given_ones: list[Any], repeated: list[int]) -> None:
    """Whatever is asked in whatever order: sending some of it again at once has no effect."""
    books = []
    for again in (set(), set(repeated)):
        now = [0.0]
        desk = Desk(Limits(), lambda now=now: now[0])  # type: ignore[misc]
        desk.create("s", config(alpha=0.1, kernel={}, features=1, timeout=5, retain=3))
        for number, (kind, key, value) in enumerate(given_ones):
            if kind == "wait":
                now[0] += value
                desk.expire()
                continue
            for _ in range(1 + (number in again)):
                desk.operations([operation(kind, key, value)])
        rows = [events.encode(row.entry) for row in desk.rows]
        books.append((rows, desk.streams["s"].snapshot()))
    assert books[0] == books[1]


def operation(kind: str, key: int, value: float) -> PredictOperation | FeedbackOperation:
    if kind == "predict":
        return PredictOperation(stream="s", x=[value], id=f"p{key}")
    return FeedbackOperation("s", f"p{key}", value)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(operations)
def test_the_rows_of_the_desk_are_the_whole_truth(given_ones: list[Any]) -> None:
    """What is logged makes the very same stream; what was refused left no trace in it."""
    now = [0.0]
    desk = Desk(Limits(pending=4), lambda: now[0])
    desk.create("s", config(alpha=0.1, kernel={}, features=1, timeout=5, default_loss=1.0))
    for kind, key, value in given_ones:
        if kind == "wait":
            now[0] += value
            desk.expire()
        else:
            desk.operations([operation(kind, key, value)])
    first, *rest = desk.rows
    assert isinstance(first.entry, Creation)
    again = Stream.created("s", first.entry)
    for row in rest:
        notice = again.replay(row.entry)
        assert (notice, again.book.seq) == (row.notice, row.seq)
    assert again.snapshot() == desk.streams["s"].snapshot()


def test_a_threshold_that_was_told_otherwise_is_noticed() -> None:
    _, made = played(config(alpha=0.1), 5)
    wrong = next(entry for entry in made if isinstance(entry, Prediction) and entry.at == 4)
    wrong.threshold = float(np.nextafter(wrong.threshold, 10))
    again = fresh(config(alpha=0.1))
    for entry in made:
        again.replay(entry)
    assert again.replay_differs == 1
    assert Stream.restored(again.snapshot()).replay_differs == 1


def test_a_loss_that_was_not_counted_is_noticed() -> None:
    stream, _ = played(config(alpha=0.1), 20)
    assert stream.healthy
    stream.calibrator.update(None, 1.0)
    assert not stream.healthy


def test_a_lost_update_is_noticed_even_when_the_rounds_agree() -> None:
    stream, _ = played(config(alpha=0.1), 20)
    stream.book.loss_sum += 0.5
    assert not stream.healthy


def test_a_state_from_elsewhere_is_refused() -> None:
    stream, _ = played(config(**CONFIGS["lattice"]), 20)
    other, _ = played(config(**CONFIGS["dictionary"]), 20)
    before = stream.snapshot()
    for bad in (other.calibrator.state(), b"", stream.snapshot(), stream.calibrator.state()[:-1]):
        with pytest.raises(StateError):
            stream.apply(Import(0.0, bad))
    assert stream.snapshot() == before
    wide, _ = played(config(**CONFIGS["lattice"] | {"features": 2}), 20)
    with pytest.raises(ValueError, match="feature"):
        stream.apply(Import(0.0, wide.calibrator.state()))
    assert stream.snapshot() == before


def test_a_state_that_was_made_up_is_refused() -> None:
    """A seal is no signature: what is inside has to make sense too."""
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
        with pytest.raises(ValueError):  # noqa: PT011 (each has words of its own)
            stream.apply(Import(0.0, serialization.encode(kind, bad_content, bad_arrays)))
        assert stream.snapshot() == before


def test_a_threshold_that_is_no_number_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(Limits(), lambda: 0.0)
    desk.create("s", config(alpha=0.1))
    monkeypatch.setattr(desk.streams["s"].calibrator, "threshold", lambda x: math.inf)
    with pytest.raises(Refusal, match="the threshold at this input is inf"):
        desk.predict("s", PredictRequest())
    assert len(desk.rows) == 1


def test_old_answers_are_forgotten_and_pending_ones_are_not() -> None:
    stream = fresh(config(alpha=0.1, retain=2))
    for t in range(6):
        stream.apply(Prediction(t, f"p{t}", [], stream.threshold([])))
    for t in range(4):
        stream.apply(Feedback(10 + t, f"p{t}", 0.5))
    assert list(stream.book.answered) == ["p2", "p3"]
    assert list(stream.book.pending) == ["p4", "p5"]


@given(st.integers(0, 5000))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_a_series_stays_short_and_even(count: int) -> None:
    series = Series()
    for t in range(1, count + 1):
        if series.wants(t):
            series.add(t, float(t), 0.0, 0.0, None, None, 0, 0, 0)
    assert len(series.rounds) < MOST_POINTS
    assert series.rounds == list(range(series.stride, count + 1, series.stride))
    assert series.at == [float(t) for t in series.rounds]
    assert count < 2 * MOST_POINTS or len(series.rounds) >= MOST_POINTS // 2 - 1
