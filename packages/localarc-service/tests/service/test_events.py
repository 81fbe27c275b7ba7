"""Server-sent events: every change, in order, from where the subscriber left off."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from typing import Any

import pytest

from localarc_client.wire.events import ChangeEvent, ImportedEvent
from localarc_service.errors import ApiError
from localarc_service.event_bus import EventBus
from localarc_service.limits import Limits
from service.conftest import Start
from service.service_in_thread import Inside, wait_for


class Subscription:
    """An open event connection."""

    def __init__(self, service: Inside, query: str = "", **headers: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
        self._connection.request("GET", f"/v1/streams/s/events{query}", headers=headers)
        self._response = self._connection.getresponse()
        self.status = self._response.status
        assert self._response.getheader("Content-Type", "").startswith("text/event-stream")
        assert self._line() == ": open"
        assert self._line() == ""

    def _line(self) -> str:
        return self._response.readline().decode().rstrip("\n")

    def next(self) -> tuple[int, str, Any]:
        fields = dict(self._line().split(": ", 1) for _ in range(3))
        assert self._line() == ""
        return int(fields["id"]), fields["event"], json.loads(fields["data"])

    def ends(self) -> bool:
        """Whether the service has ended the connection, after all that was read."""
        return self._response.readline() == b""

    def close(self) -> None:
        self._connection.close()


def headers(last: int) -> dict[str, str]:
    return {"Last-Event-ID": str(last)}


def test_events_arrive_as_they_happen(service: Inside) -> None:
    service.create(timeout=10)
    subscription = Subscription(service)
    service.predict("one", group="a")
    service.predict("two")
    service.feedback("one", 1.0)
    service.clock.now += 11
    seen = [subscription.next() for _ in range(4)]
    assert [(seq, kind) for seq, kind, _ in seen] == [
        (1, "predicted"),
        (2, "predicted"),
        (3, "feedback"),
        (4, "expired"),
    ]
    learned = seen[2][2]
    assert learned == {
        "kind": "feedback", "seq": 3, "at": 1000.0, "rounds": 1, "risk": 1.0, "pending": 1,
        "late": 0, "expired": 0, "id": "one", "loss": 1.0, "threshold": 0.0, "size": None,
        "group": "a",
    }  # fmt: skip
    subscription.close()


def test_a_subscriber_resumes_after_the_last_event(service: Inside) -> None:
    service.create()
    for t in range(5):
        service.predict(f"p{t}")
    for subscription in (Subscription(service, **headers(2)), Subscription(service, "?after=2")):
        assert [subscription.next()[0] for _ in range(3)] == [3, 4, 5]
        subscription.close()
    subscription = Subscription(service, "?after=0", **headers(4))  # the header takes precedence
    assert subscription.next()[0] == 5
    subscription.close()


def test_events_survive_a_restart(start: Start) -> None:
    service = start()
    service.create()
    service.predict("one")
    service.predict("two")
    service.app_state.writer._store.snapshot = lambda streams: []  # type: ignore[method-assign]
    service.stop()
    service = start()
    subscription = Subscription(service, **headers(1))
    assert subscription.next()[:2] == (2, "predicted")
    subscription.close()


def test_a_subscriber_that_missed_too_much_receives_reset(start: Start) -> None:
    service = start()
    service.create()
    operations = [{"op": "predict", "stream": "s"} for _ in range(600)]
    service.http.call("POST", "/v1/batch", {"operations": operations})
    subscription = Subscription(service, **headers(1))
    assert subscription.next() == (600, "reset", {"kind": "reset", "seq": 600})
    subscription.close()
    subscription = Subscription(service, **headers(700))  # from an older copy of the folder
    assert subscription.next()[1] == "reset"
    subscription.close()


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30])
def test_an_invalid_last_event_id_is_rejected(service: Inside, last: str) -> None:
    service.create()
    status, _ = service.http.call("GET", "/v1/streams/s/events", **{"Last-Event-ID": last})
    assert status == 422
    assert service.http.call("GET", f"/v1/streams/s/events?after={last}")[0] == 422


def test_events_of_an_unknown_stream_are_not_found(service: Inside) -> None:
    assert service.http.call("GET", "/v1/streams/s/events")[0] == 404


def test_subscribers_are_counted_limited_and_removed(start: Start) -> None:
    service = start(limits=Limits(subscribers=2))
    service.create()
    open_ones = [Subscription(service) for _ in range(2)]
    status, answer = service.http.call("GET", "/v1/streams/s/events")
    assert (status, answer["title"]) == (429, "Too Many Requests")
    for subscription in open_ones:
        subscription.close()

    def gone() -> bool:
        service.predict()  # a failed send reveals the closed connections
        return len(service.app_state.event_bus) == 0

    wait_for(gone)


def test_the_65th_of_many_listeners_at_once_is_rejected(service: Inside) -> None:
    service.create()
    wires = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(70)]
    for wire in wires:  # all requests are sent before the first response is read
        wire.sendall(b"GET /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    statuses = [wire.recv(2**16)[9:12] for wire in wires]
    assert (statuses.count(b"200"), statuses.count(b"429")) == (64, 6)
    assert len(service.app_state.event_bus) == 64
    for wire in wires:
        wire.close()


def change(seq: int) -> ChangeEvent:
    return ImportedEvent(seq, 0.0, 0, None, 0, 0, 0)


def test_a_slow_subscriber_receives_reset() -> None:
    async def listen() -> bytes:
        event_bus = EventBus(1)
        frames = await event_bus.subscribe("s", 0, None)
        await anext(frames)
        for seq in range(1, 1027):
            event_bus.publish("s", change(seq))
        found = await anext(frames)
        with pytest.raises(ApiError):
            await event_bus.subscribe("s", 0, None)
        event_bus.close()
        return found

    first, second, end = asyncio.run(listen()).split(b"\n\n")
    assert first.startswith(b"id: 1025\nevent: reset")
    assert second.startswith(b"id: 1026\nevent: imported")
    assert end == b""


def test_subscribers_get_what_waits_for_them_before_they_are_disconnected() -> None:
    async def listen() -> list[bytes]:
        event_bus = EventBus(1)
        frames = await event_bus.subscribe("s", 0, None)
        found = [await anext(frames)]
        event_bus.publish("s", change(1))
        found.append(await anext(frames))
        event_bus.publish("s", change(2))  # while the first one is being sent
        event_bus.interrupt()
        return found + [frame async for frame in frames]

    _, first, second = asyncio.run(listen())
    assert first.startswith(b"id: 1\n")
    assert second.startswith(b"id: 2\n")
