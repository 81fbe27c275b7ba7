"""Prometheus metrics of the service. Streams are counted here; `stream_metrics.py` names them."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

from localarc_service.long_reads import Ask, slices
from localarc_service.stream_metrics import StreamMetrics
from localarc_service.streams.manager import PendingWrite, StreamManager
from localarc_service.streams.watch import SEVERITY

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_EVENTS_PER_COMMIT = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


class WebhookMetrics:
    """What became of the notices of the webhook."""

    def __init__(self, registry: CollectorRegistry) -> None:
        about: Any = {"registry": registry}
        self.attempts = Counter(
            "localarc_webhook_attempts",
            "Requests to the webhook, by outcome: delivered, rejected (4xx) or failed.",
            ["outcome"],
            **about,
        )
        self.dropped = Counter(
            "localarc_webhook_dropped",
            "Notices that were given up: the queue was full, or they were rejected ten times.",
            **about,
        )
        self.waiting = Gauge("localarc_webhook_waiting", "Notices to be delivered.", **about)


class Metrics:
    """Counters of the service, and gauges of the streams that are set when metrics are read.

    `stream_series` is how many streams and groups get metrics of their own; 0 for none, since the
    labels contain names.
    """

    def __init__(self, stream_series: int = 0) -> None:
        # Creation times would double the number of lines.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        about: Any = {"registry": self._registry}
        self._requests = Counter(
            "localarc_requests", "HTTP requests.", ["route", "method", "status"], **about
        )
        self._seconds = Histogram(
            "localarc_request_seconds",
            "Duration of HTTP requests.",
            ["route"],
            buckets=_SECONDS,
            **about,
        )
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._events = Counter("localarc_events", "Stored events.", ["kind"], **about)
        self._commits = Histogram(
            "localarc_commit_seconds", "Duration of commits.", buckets=_SECONDS, **about
        )
        self._commit_events = Histogram(
            "localarc_commit_events", "Events per commit.", buckets=_EVENTS_PER_COMMIT, **about
        )
        self.failures = Counter(
            "localarc_write_failures", "Failed writes to the data folder.", **about
        )
        self.snapshots = Counter("localarc_snapshots", "Stored snapshots.", **about)
        self.replay_seconds = Gauge(
            "localarc_replay_seconds", "Duration of loading the data folder at startup.", **about
        )
        self.log_events = Gauge("localarc_log_events", "Events in the event log.", **about)
        self.log_bytes = Gauge(
            "localarc_log_bytes", "Bytes of the events in the event log.", **about
        )
        self._ready = Gauge("localarc_ready", "1 if the service accepts requests.", **about)
        self._subscribers = Gauge("localarc_subscribers", "Open event connections.", **about)
        self.webhook = WebhookMetrics(self._registry)
        self._series = StreamMetrics(stream_series) if stream_series else None
        if self._series is not None:
            self._registry.register(self._series)
        self._by_status = Gauge(
            "localarc_streams_by_status",
            "Streams by the worst status of all rounds and of each group.",
            ["status"],
            **about,
        )
        self._streams = {
            name: Gauge(f"localarc_{name}", text, **about)
            for name, text in {
                "streams": "Streams.",
                "read_only_streams": "Streams that reject writes: inconsistent, or not storable.",
                "quarantined_streams": "Streams that are not served: stored data is damaged.",
                "missing_events": "Acknowledged events of these streams that are missing.",
                "streams_not_kept": "Streams whose target is not met by more than chance.",
                "streams_with_warnings": "Streams whose status has a warning.",
                "replay_differs": "Thresholds that differed on replay by more than rounding.",
                "replay_rounded": "Thresholds that the latest replay rounded differently.",
                "pending": "Predictions without feedback.",
                "rounds": "Losses learned, in all streams.",
                "expired": "Predictions that expired without feedback.",
                "late": "Feedback that arrived after that of a newer prediction.",
                "memory_bytes": "Estimated memory of all streams, at its largest.",
            }.items()
        }

    def register(self, collector: Collector) -> None:
        """Add metrics that are read when they are asked for."""
        self._registry.register(collector)

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._known.get((route, method, status))
        if found is None:  # looking up labels is slower than counting
            found = self._requests.labels(route, method, str(status)), self._seconds.labels(route)
            self._known[route, method, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def count_commit(self, writes: Collection[PendingWrite], seconds: float) -> None:
        """Count a commit."""
        self._commits.observe(seconds)
        self._commit_events.observe(len(writes))
        stored = (type(write.event) for write in writes if write.event is not None)
        for kind, count in Tally(stored).items():
            self._events.labels(kind.__struct_config__.tag).inc(count)

    async def read(self, ask: Ask) -> None:
        """Set the gauges of the streams: read on the thread that owns them, a few at a time."""
        judged: Tally[str] = Tally()
        for names in slices(await ask(lambda manager: list(manager.streams))):
            judged += await ask(partial(_judge, names=names))
        await ask(partial(self._read_streams, judged=judged))
        if self._series is not None:
            await self._series.read(ask)

    def _read_streams(self, manager: StreamManager, judged: Tally[str]) -> None:
        streams = manager.streams.values()
        values = {
            "streams": len(streams),
            "read_only_streams": len(manager.read_only),
            "quarantined_streams": len(manager.quarantined),
            "missing_events": sum(each.missing for each in manager.quarantined.values()),
            "streams_not_kept": judged["not kept"],
            "streams_with_warnings": judged["warnings"],
            "replay_differs": sum(stream.replay_differs for stream in streams),
            "replay_rounded": sum(stream.replay_rounded for stream in streams),
            "pending": sum(len(stream.state.pending) for stream in streams),
            "rounds": sum(stream.state.rounds for stream in streams),
            "expired": sum(stream.state.expired for stream in streams),
            "late": sum(stream.state.late for stream in streams),
            "memory_bytes": manager.memory.total,
        }
        for name, value in values.items():
            self._streams[name].set(value)
        statuses = Tally(stream.watch.worst_status for stream in streams)
        for status in SEVERITY:
            self._by_status.labels(status).set(statuses[status])

    def text(self, ready: bool, subscribers: int) -> bytes:
        """All metrics in the text format of Prometheus."""
        self._ready.set(ready)
        self._subscribers.set(subscribers)
        return generate_latest(self._registry)


def _judge(manager: StreamManager, names: Sequence[str]) -> Tally[str]:
    """How many of these streams do not keep their targets, and how many have warnings."""
    found: Tally[str] = Tally()
    for stream in filter(None, map(manager.streams.get, names)):
        found["not kept"] += stream.verdict.state == "not kept"
        found["warnings"] += bool(stream.warnings)
    return found
