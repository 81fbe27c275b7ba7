"""Metrics for Prometheus. No label ever carries a stream's name: there may be many, and secret."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from localarc.service.streams.manager import Desk, Row

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_ROWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class Metrics:
    """What is counted; gauges of the streams are read when somebody asks."""

    def __init__(self) -> None:
        # When each counter began is not worth a line each.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        about: Any = {"registry": self._registry}
        self._requests = Counter(
            "localarc_requests", "Requests answered.", ["route", "method", "status"], **about
        )
        self._seconds = Histogram(
            "localarc_request_seconds", "Time to answer.", ["route"], buckets=_SECONDS, **about
        )
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._events = Counter("localarc_events", "Events logged.", ["kind"], **about)
        self._commits = Histogram(
            "localarc_commit_seconds", "Time of a commit.", buckets=_SECONDS, **about
        )
        self._rows = Histogram("localarc_commit_events", "Events a commit.", buckets=_ROWS, **about)
        self.failures = Counter("localarc_write_failures", "Writes that failed.", **about)
        self.snapshots = Counter("localarc_snapshots", "Snapshots kept.", **about)
        self.replay_seconds = Gauge("localarc_replay_seconds", "Time of the last replay.", **about)
        self.log_events = Gauge("localarc_log_events", "Events in the log.", **about)
        self.log_bytes = Gauge("localarc_log_bytes", "Bytes of entries in the log.", **about)
        self._ready = Gauge("localarc_ready", "1 when requests are taken.", **about)
        self._listeners = Gauge("localarc_listeners", "Open event streams.", **about)
        self._streams = {
            name: Gauge(f"localarc_{name}", text, **about)
            for name, text in {
                "streams": "Streams.",
                "unhealthy_streams": "Streams whose identity check is broken.",
                "replay_differs": "Thresholds that replay gave otherwise than they were told.",
                "pending": "Predictions that await their loss.",
                "rounds": "Losses learnt, in all streams.",
                "expired": "Predictions whose loss never came.",
                "late": "Losses that came after that of a newer prediction.",
                "memory_bytes": "Size of what the calibrators remember.",
            }.items()
        }

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        known = self._known.get((route, method, status))
        if known is None:  # looking labels up takes longer than counting
            known = self._requests.labels(route, method, str(status)), self._seconds.labels(route)
            self._known[route, method, status] = known
        known[0].inc()
        known[1].observe(seconds)

    def committed(self, rows: Collection[Row], seconds: float) -> None:
        """Count a commit."""
        self._commits.observe(seconds)
        self._rows.observe(len(rows))
        for kind, count in Tally(type(row.entry) for row in rows).items():
            self._events.labels(kind.__struct_config__.tag).inc(count)

    def look(self, desk: Desk) -> None:
        """Read the gauges of the streams; done by the writer, who owns them."""
        streams = desk.streams.values()
        values = {
            "streams": len(streams),
            "unhealthy_streams": len(desk.unhealthy),
            "replay_differs": sum(each.replay_differs for each in streams),
            "pending": sum(len(each.book.pending) for each in streams),
            "rounds": sum(each.book.rounds for each in streams),
            "expired": sum(each.book.expired for each in streams),
            "late": sum(each.book.late for each in streams),
            "memory_bytes": sum(each.calibrator.nbytes for each in streams),
        }
        for name, value in values.items():
            self._streams[name].set(value)

    def text(self, ready: bool, listeners: int) -> bytes:
        """All of it, as Prometheus reads it."""
        self._ready.set(ready)
        self._listeners.set(listeners)
        return generate_latest(self._registry)
