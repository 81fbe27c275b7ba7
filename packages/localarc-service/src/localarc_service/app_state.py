"""The parts of a running service, created once and shared by all requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localarc_service.access.audit import AuditLog
from localarc_service.access.metrics import AccessMetrics
from localarc_service.access.reload import TokenReloader
from localarc_service.api.auth import Tokens
from localarc_service.compiler import Compiler
from localarc_service.event_bus import EventBus
from localarc_service.limits import Limits
from localarc_service.metrics import Metrics
from localarc_service.storage.held_files import HeldFile
from localarc_service.storage.opening import open_store
from localarc_service.storage.writer import Writer
from localarc_service.streams.manager import StreamManager
from localarc_service.webhook import Target, Webhook, notices, reminders

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address


@dataclass(frozen=True)
class AppState:
    """What endpoints work with. `hosts` are the allowed names in the Host header; None allows all.

    The operations of `api/service_status.py` and the pipeline receive it as `app`.
    """

    writer: Writer
    compiler: Compiler
    event_bus: EventBus
    metrics: Metrics
    tokens: Tokens
    limits: Limits
    hosts: frozenset[str] | None
    webhook: Webhook | None = None
    audit: AuditLog | None = None
    reloader: TokenReloader | None = None

    @classmethod
    def create(
        cls,
        place: Path | Address,
        limits: Limits,
        tokens: Tokens,
        hosts: frozenset[str] | None = None,
        synchronous: str = "FULL",
        clock: Callable[[], float] | None = None,
        stream_metrics: int = 0,
        webhook: Target | None = None,
        audit: AuditLog | None = None,
        token_file: Path | None = None,
        held: Iterable[HeldFile] = (),
    ) -> AppState:
        """A service on a data folder or a database; events are replayed when the writer starts."""
        event_bus, metrics = EventBus(limits.subscribers), Metrics(stream_metrics)
        compiler = Compiler()
        store = open_store(place, synchronous, held)
        manager = StreamManager(limits, clock or steady_clock())
        writer = Writer(store, manager, metrics, event_bus.publish, compiler)
        writer.on_loss = event_bus.interrupt
        sender = None if webhook is None else Webhook(webhook, metrics.webhook)
        if sender is not None:
            writer.on_load = lambda manager: sender.put(reminders(manager))
            writer.on_commit = lambda writes: sender.put(notices(writes))
        reloader = None if token_file is None else TokenReloader(token_file, tokens, audit)
        metrics.register(AccessMetrics(tokens, reloader, audit))
        return cls(
            writer, compiler, event_bus, metrics, tokens, limits, hosts, sender, audit, reloader
        )


def steady_clock() -> Callable[[], float]:
    """The time of day at the start plus elapsed time: timeouts survive changes of the clock."""
    start = time.time() - time.monotonic()
    return lambda: start + time.monotonic()
