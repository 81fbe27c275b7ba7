"""Killed at any moment, the service loses nothing that it has acknowledged."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from localarc.monitoring import Monitor
from localarc_client.wire.config_reading import read_config
from localarc_service.storage.opening import open_store
from localarc_service.stored import events
from localarc_service.streams.config_defaults import completed
from localarc_service.streams.methods import build_calibrator
from localarc_service.streams.state import group_names
from service.service_in_thread import wait_for
from service.service_process import Caller, Server, free_port

pytestmark = pytest.mark.service

CLIENTS = 12
STREAMS: dict[str, dict[str, Any]] = {
    "plane": {"alpha": 0.1, "kernel": {"length_scale": 0.5}, "features": 2, "retain": 100_000},
    "space": {"alpha": 0.2, "kernel": {"kind": "matern32"}, "features": 4, "retain": 100_000},
    "auto": {"alpha": 0.1, "features": 2, "retain": 100_000},
    "mondrian": {"alpha": 0.1, "method": "mondrian", "retain": 100_000},
}
GROUPS: dict[str, list[Any]] = {"auto": [["a", "b"], ["b"], "c"], "mondrian": ["a", "b"]}

Report = dict[str, Any]


@dataclass
class Received:
    """The responses that one client received, by stream and id."""

    predictions: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]] = field(
        default_factory=dict
    )
    losses: dict[tuple[str, str], tuple[Report, dict[str, Any]]] = field(default_factory=dict)


class Client(threading.Thread):
    """Sends predictions and feedback; requests without a response are repeated, or given up.

    Where there are several services, it turns to the next one when one does not respond.
    """

    repeated: frozenset[int] = frozenset({503})  # statuses after which a request is sent again

    def __init__(
        self, number: int, ports: Sequence[int], stop: threading.Event, pause: float = 0.0
    ) -> None:
        super().__init__(daemon=True)
        self.received = Received()
        self.error: BaseException | None = None
        self._number, self._stopping = number, stop
        self._source = random.Random(number)
        self._callers = [Caller(port) for port in ports]
        self._pause = pause  # between requests
        self._waiting: list[tuple[str, str]] = []

    def run(self) -> None:
        try:
            count = 0
            while not self._stopping.is_set():
                count += 1
                self._predict(f"c{self._number}-{count}")
                while len(self._waiting) > 5 and self._source.random() < 0.6:
                    self._report(self._waiting.pop(self._source.randrange(len(self._waiting))))
        except BaseException as error:
            self.error = error
        finally:
            for caller in self._callers:
                caller.close()

    def _predict(self, key: str) -> None:
        stream = self._source.choice(list(STREAMS))
        features = STREAMS[stream].get("features", 0)
        body: dict[str, Any] = {"x": [self._source.random() for _ in range(features)]}
        if stream in GROUPS:
            body["group"] = self._source.choice(GROUPS[stream])
        answer = self._until_answered(lambda caller: caller.predict(stream, id=key, **body))
        if answer is not None:
            self.received.predictions[stream, key] = body, answer
            self._waiting.append((stream, key))

    def _report(self, which: tuple[str, str]) -> None:
        report: Report = {"loss": self._source.random()}
        if which[0] == "auto":
            report["score"] = self._source.random()
        answer = self._until_answered(lambda caller: caller.feedback(*which, **report))
        if answer is not None:
            self.received.losses[which] = report, answer

    def _until_answered(self, ask: Any) -> Any:
        time.sleep(self._pause)
        while not self._stopping.is_set():
            try:
                status, answer = ask(self._callers[0])
                if status == 200:
                    return answer
                assert status in self.repeated, answer
            except ConnectionError:
                if self._source.random() < 0.3:
                    return None
            self._callers.append(self._callers.pop(0))
            time.sleep(0.05)
        return None


@pytest.mark.parametrize(
    ("kills", "log_events"), [(20, 1_000_000), (10, 400)], ids=["whole log", "pruned log"]
)
def test_nothing_that_was_acknowledged_is_lost(tmp_path: Path, kills: int, log_events: int) -> None:
    folder = tmp_path / "data"
    server = Server(folder, "--log-events", str(log_events), port=free_port())
    source = random.Random(0)
    stop = threading.Event()
    with server:
        for name, config in STREAMS.items():
            assert server.caller().create(name, config)[0] == 201
        clients = [Client(number, [server.port], stop) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        for _ in range(kills):
            time.sleep(source.uniform(0.05, 0.5))
            server.kill()
            server.start()
        time.sleep(0.2)
        stop.set()
        for client in clients:
            client.join(120)
            assert client.error is None, client.error
        received = [client.received for client in clients]
        assert_retries_get_the_same_responses(server.caller(), received)
        states = {name: server.caller().state(name) for name in STREAMS}
    predictions = sum(len(each.predictions) for each in received)
    losses = sum(len(each.losses) for each in received)
    print(f"{predictions} predictions and {losses} losses were answered between {kills} kills")
    assert losses > 10 * kills  # or little was at stake
    assert_the_store_has_the_same_streams(folder, states)
    if log_events == 1_000_000:
        for name, state in states.items():
            assert rerun(folder, name) == state
            assert_monitors_are_those_of_the_losses(folder, name)
    else:
        with reopened(folder) as store:
            assert store.events <= 400 + 512


def assert_retries_get_the_same_responses(caller: Caller, received: list[Received]) -> None:
    for each in received:
        for (stream, key), (body, answer) in each.predictions.items():
            assert caller.predict(stream, id=key, **body) == (200, answer)
        for (stream, key), (report, answer) in each.losses.items():
            assert caller.feedback(stream, key, **report) == (200, answer)


@contextlib.contextmanager
def reopened(place: Any) -> Iterator[Any]:
    """The store of a service that was stopped."""
    with contextlib.closing(open_store(place)) as store:
        wait_for(store.acquire)
        yield store


def stored_events(place: Any, name: str) -> list[Any]:
    with reopened(place) as store:
        return [events.decode(data) for _, _, _, data, _ in store._rows([name])]


def assert_the_store_has_the_same_streams(place: Any, states: dict[str, bytes]) -> None:
    with reopened(place) as store:
        streams = store.load()
    for name, state in states.items():
        assert streams[name].calibrator.state() == state
        assert streams[name].replay_differs == 0
        assert streams[name].consistent


def assert_monitors_are_those_of_the_losses(place: Any, name: str) -> None:
    """The library's monitors of the stored losses are equal bit for bit, and were announced.

    Losses of predictions that were made before anything was known are no monitor's.
    """
    with reopened(place) as store:
        watch = store.load([name])[name].watch
    stored = stored_events(place, name)
    made = {each.id: each for each in stored if isinstance(each, events.PredictionMade)}
    twins: dict[str, Monitor] = {"": Monitor(STREAMS[name]["alpha"])}
    for event in stored:
        if isinstance(event, events.FeedbackReceived) and made[event.id].informed:
            for part in ("", *group_names(made[event.id].group)):
                twin = twins.setdefault(part, Monitor(STREAMS[name]["alpha"]))
                twin.update(event.loss, event.at)
    found = msgspec.msgpack.decode(watch.encode())
    assert found["monitors"] == {part: twin.to_state() for part, twin in twins.items()}
    statuses = {part: twin.status() for part, twin in twins.items()}
    assert {part: watch.announced_status(part) for part in twins} == statuses
    assert "broken" in statuses.values()  # or nothing was at stake


def rerun(place: Any, name: str) -> bytes:
    """The state after the library alone has replayed the stored events."""
    cal: Any = build_calibrator(completed(read_config(STREAMS[name])))
    made: dict[str, Any] = {}  # the input of each prediction, or its ticket
    for event in stored_events(place, name):
        if isinstance(event, events.PredictionMade) and name in GROUPS:
            made[event.id] = cal.ask(np.array(event.x), groups=event.group)
            assert made[event.id].threshold == event.threshold
        elif isinstance(event, events.PredictionMade):
            made[event.id] = np.array(event.x)
            assert cal.threshold(made[event.id]) == event.threshold
        elif isinstance(event, events.FeedbackReceived):
            learn = cal.tell if name in GROUPS else cal.update
            more = {} if event.score is None else {"score": event.score}
            learn(made.pop(event.id), event.loss, **more)
    return bytes(cal.state())
