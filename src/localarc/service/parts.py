"""The parts of a running service, put together once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from localarc.service.api.auth import Tokens
from localarc.service.event_bus import Hub
from localarc.service.limits import Limits
from localarc.service.metrics import Metrics
from localarc.service.storage.store import Log
from localarc.service.storage.writer import Writer
from localarc.service.streams.manager import Desk


@dataclass(frozen=True)
class Parts:
    """What endpoints work with. `hosts` are the names a request may call us by, if that counts."""

    writer: Writer
    hub: Hub
    metrics: Metrics
    tokens: Tokens
    limits: Limits
    hosts: frozenset[str] | None

    @classmethod
    def assembled(
        cls,
        folder: Path,
        limits: Limits,
        tokens: Tokens,
        hosts: frozenset[str] | None = None,
        synchronous: str = "FULL",
        clock: Callable[[], float] | None = None,
    ) -> Parts:
        """A service over a data folder; its log is opened, and replayed once it starts."""
        hub, metrics = Hub(limits.listeners), Metrics()
        log = Log(folder, synchronous)
        desk = Desk(limits, clock or steady_clock())
        writer = Writer(log, desk, metrics, hub.publish)
        return cls(writer, hub, metrics, tokens, limits, hosts)


def steady_clock() -> Callable[[], float]:
    """The time of day, as if the machine's clock were never set again: time-outs rest on it."""
    begun = time.time() - time.monotonic()
    return lambda: begun + time.monotonic()
