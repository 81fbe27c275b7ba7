"""Fan-out of stream events to subscribers, with replay of recent events."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator

import msgspec

from localarc_client.wire.events import (
    ChangeEvent,
    DeletedEvent,
    RemovedEvent,
    RenamedEvent,
    ResetEvent,
    StreamEvent,
)
from localarc_client.wire.infinite import as_text
from localarc_service.errors import ApiError

REPLAY_EVENTS = 512  # latest events of a stream, for subscribers that reconnect
MAX_BACKLOG = 1024  # unsent events of a slow subscriber
HEARTBEAT_SECONDS = 15.0  # without events, after which a comment keeps the connection open

_encode = msgspec.json.Encoder(enc_hook=as_text).encode


class Subscriber:
    """One open connection."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.ended = False
        self.backlog: deque[StreamEvent] = deque()
        self.wake = asyncio.Event()

    def push(self, event: StreamEvent) -> None:
        """Queue an event; a subscriber that is too slow receives `reset` instead."""
        if len(self.backlog) >= MAX_BACKLOG:
            self.backlog.clear()
            event = ResetEvent(event.seq)
        self.backlog.append(event)
        self.wake.set()


class EventBus:
    """All subscribers of all streams; used in the event loop only."""

    def __init__(self, max_subscribers: int) -> None:
        self._max_subscribers = max_subscribers
        self._recent: defaultdict[str, deque[ChangeEvent]] = defaultdict(
            lambda: deque(maxlen=REPLAY_EVENTS)
        )
        self._subscribers: defaultdict[str, set[Subscriber]] = defaultdict(set)
        self._closed = False

    def __len__(self) -> int:
        return sum(map(len, self._subscribers.values()))

    def publish(self, stream: str, event: ChangeEvent) -> None:
        """Send an event to all subscribers of a stream."""
        if isinstance(event, RenamedEvent):
            self._rename(event.previous, event.name)
        self._recent[stream].append(event)
        for subscriber in self._subscribers.get(stream, ()):
            subscriber.push(event)
        if isinstance(event, RemovedEvent):
            self._forget(stream, event.before)
        if isinstance(event, DeletedEvent):
            self._end(stream)

    def _rename(self, previous: str, name: str) -> None:
        """Subscribers follow a stream to its new name; in a replay it has that name already."""
        if previous == name:
            return
        self._recent[name] = self._recent.pop(previous, deque(maxlen=REPLAY_EVENTS))
        for subscriber in self._subscribers.pop(previous, ()):
            subscriber.stream = name
            self._subscribers[name].add(subscriber)

    def _forget(self, stream: str, before: float) -> None:
        """Forget events up to a time."""
        recent = self._recent[stream]
        while recent and recent[0].at <= before:
            recent.popleft()

    def _end(self, stream: str) -> None:
        """Forget a stream, and end its subscriptions after their last event."""
        self._recent.pop(stream, None)
        for subscriber in self._subscribers.get(stream, ()):
            subscriber.ended = True

    def close(self) -> None:
        """End all connections, so that the service can stop."""
        self._closed = True
        for subscribers in self._subscribers.values():
            for subscriber in subscribers:
                subscriber.wake.set()

    def interrupt(self) -> None:
        """End all connections and forget recent events: other events may follow elsewhere."""
        self._recent.clear()
        for subscribers in self._subscribers.values():
            for subscriber in subscribers:
                subscriber.ended = True
                subscriber.wake.set()

    async def subscribe(self, stream: str, seq: int, after: int | None) -> AsyncIterator[bytes]:
        """Encoded events after `after`, the last one received; `seq` is the latest one so far."""
        if len(self) >= self._max_subscribers:
            raise ApiError(
                429, f"the service has reached its limit of {self._max_subscribers} subscribers."
            )
        frames = self._frames(stream, seq, after)
        await anext(frames)  # registers the subscriber, before another request is looked at
        return frames

    def _missed(self, stream: str, seq: int, after: int | None) -> list[StreamEvent]:
        if after is None:
            return []
        recent = self._recent.get(stream, deque())
        latest = max(seq, recent[-1].seq if recent else 0)
        if after == latest:
            return []
        if after > latest or not recent or recent[0].seq > after + 1:
            return [ResetEvent(latest)]
        return [event for event in recent if event.seq > after]

    async def _frames(self, stream: str, seq: int, after: int | None) -> AsyncIterator[bytes]:
        # The subscriber is registered here, where `finally` is certain to run.
        subscriber = Subscriber(stream)
        for event in self._missed(stream, seq, after):
            subscriber.push(event)
        self._subscribers[stream].add(subscriber)
        try:
            yield b""
            yield b": open\n\n"
            while not self._closed and (subscriber.backlog or not subscriber.ended):
                if not await _woken(subscriber):
                    yield b": heartbeat\n\n"
                frames = b"".join(map(frame, subscriber.backlog))
                subscriber.backlog.clear()
                if frames:
                    yield frames
        finally:
            self._leave(subscriber)

    def _leave(self, subscriber: Subscriber) -> None:
        others = self._subscribers[subscriber.stream]
        others.discard(subscriber)
        if not others:
            del self._subscribers[subscriber.stream]


async def _woken(subscriber: Subscriber) -> bool:
    try:
        await asyncio.wait_for(subscriber.wake.wait(), HEARTBEAT_SECONDS)
    except TimeoutError:
        return False
    subscriber.wake.clear()
    return True


def frame(event: StreamEvent) -> bytes:
    """One event in the format of server-sent events."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), _encode(event))
