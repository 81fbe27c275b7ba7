"""A new stream of the service alarms nobody; infinity is text on the wire."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from localarc_client.wire.config import AutoConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.infinite import as_text
from localarc_client.wire.predictions import Interval, PredictResponse
from localarc_service.stored import events
from localarc_service.streams.config_defaults import completed, is_same
from localarc_service.streams.stream import Stream


def played(seed: int, in_flight: int, **config: Any) -> tuple[Stream, set[str]]:
    """A stream of which 500 informed losses are known, and the statuses that its monitor had."""
    random = np.random.default_rng(seed)
    stored = completed(read_config({"alpha": 0.1, "features": 1, **config}))
    stream = Stream.create("s", events.StreamCreated(at=0.0, config=stored))
    pending: list[tuple[str, float]] = []
    statuses: set[str] = set()
    for t in range(510 + 2 * in_flight):
        x = [random.random()]
        informed = stream.method.is_informed(None)
        made = events.PredictionMade(float(t), str(t), x, events.UNKNOWN, informed=informed)
        stream.apply(made)
        pending.append((str(t), stream.state.pending[str(t)].threshold))
        if len(pending) >= in_flight:
            key, threshold = pending.pop(0)
            score = abs(random.normal())
            loss = float(score > threshold)
            told = score if stored.method == "auto" else None
            stream.apply(events.FeedbackReceived(at=float(t), id=key, loss=loss, score=told))
            statuses.add(stream.watch._monitors[""].status())
            assert stream.consistent
    return stream, statuses


@pytest.mark.parametrize("in_flight", [1, 10, 50, 200])
def test_a_healthy_new_stream_alarms_nobody(in_flight: int) -> None:
    assert sum(played(seed, in_flight)[1] != {"ok"} for seed in range(6)) <= 1


def test_predictions_before_any_score_are_counted_apart() -> None:
    stream, _ = played(0, 50)
    state, certificate = stream.state, stream.certificate()
    assert state.uninformed == certificate.uninformed == 58
    assert state.rounds == certificate.rounds + 58
    assert stream.watch.rounds == certificate.rounds
    assert state.risk == pytest.approx(certificate.risk)
    twin = Stream.from_snapshot(stream.snapshot())
    assert twin.snapshot() == stream.snapshot()
    assert twin.consistent


def test_what_arc_asked_before_any_loss_is_not_the_monitors() -> None:
    stream, _ = played(0, 50, method="arc")
    assert stream.state.uninformed == 50
    assert stream.watch.rounds == stream.state.rounds - 50
    assert stream.certificate().rounds == stream.state.rounds


def test_infinity_is_text_in_json_and_a_float_in_python() -> None:
    whole = Interval(-math.inf, math.inf, math.inf)
    body = msgspec.json.encode(PredictResponse("a", 1, math.inf, whole), enc_hook=as_text)
    fields = msgspec.json.decode(body)
    assert (fields["threshold"], fields["set"]["lower"]) == ("inf", "-inf")
    found = msgspec.json.decode(body, type=PredictResponse)
    assert found.threshold == math.inf
    assert isinstance(found.threshold, float)
    assert 1e9 in found.set  # type: ignore[operator]


def test_a_stream_that_began_at_0_is_still_the_one_that_is_asked_for() -> None:
    old = completed(AutoConfig(0.1, initial_threshold=0.0))
    assert is_same(old, AutoConfig(0.1))
    assert not is_same(old, AutoConfig(0.1, initial_threshold=0.5))
