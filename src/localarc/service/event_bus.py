"""The hub: what happened, told to who listens, from where they left off."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator

import msgspec

from localarc.service.api.errors import Refusal
from localarc.wire.events import ChangeEvent, ResetEvent, StreamEvent

_REMEMBERED = 512  # events of a stream, to be told again after a short break
_BEHIND = 1024  # events that a slow listener may have before it
_BREATH = 15.0  # seconds of silence after which a comment says that the line is open

_encode = msgspec.json.Encoder().encode


class Listener:
    """One open connection."""

    def __init__(self) -> None:
        self.waiting: deque[StreamEvent] = deque()
        self.woken = asyncio.Event()

    def tell(self, notice: StreamEvent) -> None:
        """Hand over an event; who is too far behind is told to read the history instead."""
        if len(self.waiting) >= _BEHIND:
            self.waiting.clear()
            notice = ResetEvent(notice.seq)
        self.waiting.append(notice)
        self.woken.set()


class Hub:
    """All listeners of all streams; used in the event loop alone, once requests are taken."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._recent: defaultdict[str, deque[ChangeEvent]] = defaultdict(
            lambda: deque(maxlen=_REMEMBERED)
        )
        self._listeners: defaultdict[str, set[Listener]] = defaultdict(set)
        self._closed = False

    def __len__(self) -> int:
        return sum(map(len, self._listeners.values()))

    def publish(self, stream: str, notice: ChangeEvent) -> None:
        """Tell everybody who listens to a stream."""
        self._recent[stream].append(notice)
        for listener in self._listeners.get(stream, ()):
            listener.tell(notice)

    def close(self) -> None:
        """End all connections, so that the service can stop."""
        self._closed = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.woken.set()

    def listen(self, stream: str, seq: int, after: int | None) -> AsyncIterator[bytes]:
        """Events for the wire; `seq` is the stream's latest one, `after` the last one heard."""
        if len(self) >= self._most:
            raise Refusal(429, f"{self._most} connections listen to events, the limit.")
        return self._frames(stream, seq, after)

    def _missed(self, stream: str, seq: int, after: int | None) -> list[StreamEvent]:
        if after is None:
            return []
        recent = self._recent.get(stream, deque())
        latest = max(seq, recent[-1].seq if recent else 0)
        if after == latest:
            return []
        if after > latest or not recent or recent[0].seq > after + 1:
            return [ResetEvent(latest)]
        return [notice for notice in recent if notice.seq > after]

    async def _frames(self, stream: str, seq: int, after: int | None) -> AsyncIterator[bytes]:
        # Only here, where `finally` is sure to run, does the listener join the others.
        listener = Listener()
        for notice in self._missed(stream, seq, after):
            listener.tell(notice)
        self._listeners[stream].add(listener)
        try:
            yield b": open\n\n"
            while not self._closed:
                if not await _woken(listener):
                    yield b": still here\n\n"
                frames = b"".join(map(frame, listener.waiting))
                listener.waiting.clear()
                if frames:
                    yield frames
        finally:
            self._listeners[stream].discard(listener)


async def _woken(listener: Listener) -> bool:
    try:
        await asyncio.wait_for(listener.woken.wait(), _BREATH)
    except TimeoutError:
        return False
    listener.woken.clear()
    return True


def frame(notice: StreamEvent) -> bytes:
    """One event as the wire has it."""
    kind = str(notice.__struct_config__.tag).encode()
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (notice.seq, kind, _encode(notice))
