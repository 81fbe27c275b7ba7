"""The memory limit: what would grow beyond it is refused, and what does not grow continues."""

from __future__ import annotations

import gc
import random
import tracemalloc
from typing import Any

import pytest

from localarc_client.wire.config import ArcConfig, AutoConfig
from localarc_client.wire.config_reading import read_config
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.errors import ApiError
from localarc_service.event_bus import EventBus
from localarc_service.limits import Limits, half_of_memory
from localarc_service.streams.manager import StreamManager
from service.conftest import Start

CONFIGS: dict[str, dict[str, Any]] = {
    "arc": {"method": "arc"},
    "lattice": {"kernel": {"length_scale": 0.1}, "features": 2},
    "dictionary": {"kernel": {"kind": "matern32"}, "features": 4},
    "auto": {"method": "auto", "features": 2},
    "mondrian": {"method": "mondrian"},
}


def play(manager: StreamManager, bus: EventBus, stream: str, keys: str, feedback: bool) -> None:
    """Rounds, whose events a bus keeps, as it does in a service."""
    source, state = random.Random(keys), manager.streams[stream].state
    group = "a" if state.config.method == "mondrian" else None
    for t in range(600):
        x = [source.random() for _ in range(state.config.features)]
        manager.predict(stream, PredictRequest(x=x, id=f"{keys}{t}", group=group))
        if feedback:
            loss = float(source.random() < 0.1)
            manager.feedback(stream, f"{keys}{t}", FeedbackRequest(loss, score=source.random()))
        for write in manager.uncommitted:
            bus.publish(write.stream, write.change)
        manager.uncommitted = []


@pytest.mark.slow
@pytest.mark.parametrize("given_config", CONFIGS.values(), ids=CONFIGS.keys())
def test_the_estimate_is_what_streams_take(given_config: dict[str, Any]) -> None:
    manager, bus = StreamManager(Limits(), lambda: random.random()), EventBus(1)
    config = read_config({"alpha": 0.1} | given_config)
    manager.create("compiled", config)
    play(manager, bus, "compiled", "", feedback=True)
    before = manager.memory.total
    gc.collect()
    tracemalloc.start()
    try:
        manager.create("s", config)
        play(manager, bus, "s", "answered", feedback=True)
        play(manager, bus, "s", "pending", feedback=False)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert manager.memory.total - before == pytest.approx(taken, rel=0.35)


def test_at_the_limit_a_stream_that_does_not_grow_continues() -> None:
    manager = StreamManager(Limits(memory_bytes=2**30), lambda: 0.0)
    for name in "steady", "growing":
        manager.create(name, ArcConfig(0.1, retain=20))

    def round_of_steady(t: int) -> None:
        manager.predict("steady", PredictRequest(id=f"p{t}"))
        manager.feedback("steady", f"p{t}", FeedbackRequest(0.0))

    for t in range(1100):  # until the history and the recent events are full
        round_of_steady(t)
    manager.memory.limit = manager.memory.total + 50_000
    status = [predict(manager, "growing", f"p{t}") for t in range(1000)]
    made = status.count(200)
    assert 50 < made < 150
    assert status == [200] * made + [429] * (1000 - made)
    for t in range(2000, 2200):
        round_of_steady(t)
    with pytest.raises(ApiError, match="reached the memory limit of 1 MiB"):
        manager.create("new", AutoConfig(0.1))
    assert "new" not in manager.streams
    manager.feedback("growing", "p0", FeedbackRequest(0.0))  # what is pending can be answered


def predict(manager: StreamManager, stream: str, key: str) -> int:
    try:
        manager.predict(stream, PredictRequest(id=key))
    except ApiError as error:
        return error.status
    return 200


@pytest.mark.slow
def test_memory_is_counted_again_after_a_restart(start: Start) -> None:
    service = start()
    for stream in "a", "b":
        service.create(stream, retain=10)
        for t in range(30):
            service.predict(f"p{t}", stream)
    total = service.ask(lambda manager: manager.memory.total)
    service.stop()
    service = start(limits=Limits(memory_bytes=total))
    assert service.ask(lambda manager: manager.memory.total) == total
    status, problem = service.predict("more", "a")
    assert (status, "raise --max-memory" in problem["detail"]) == (429, True)
    assert service.create("c")[0] == 429
    assert service.feedback("p0", 0.0, "a")[0] == 200
    total = service.ask(lambda manager: manager.memory.total)
    metrics = service.http.call("GET", "/metrics")[1]
    assert f"localarc_memory_bytes {float(total)}".encode() in metrics


def test_the_default_limit_is_half_of_the_memory() -> None:
    assert 2**28 < half_of_memory() < 2**45
