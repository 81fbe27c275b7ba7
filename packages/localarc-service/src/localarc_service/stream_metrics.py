"""Metrics of each stream and group by name, for alerts: opt-in, and limited in number."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from localarc_client.wire.health import Status
from localarc_service.long_reads import Ask, slices
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream
from localarc_service.streams.watch import SEVERITY, WHOLE, Moment

_PART = "stream", "group"
_FAMILIES = {
    "risk": "Mean of all losses.",
    "recent_risk": "Mean of the latest losses, about as many as the stream's window.",
    "at_least": "Lower confidence limit of the risk since the last acknowledgement or recovery.",
    "target": "Target risk.",
    "bound": "How far above the target the risk can be, where that is guaranteed.",
    "pending": "Predictions without feedback; of whole streams only.",
    "last_feedback_timestamp_seconds": "When the latest loss arrived.",
}
_LEFT_OUT = "localarc_stream_metrics_left_out", "Streams and groups without metrics of their own."
_STATUS = (
    "localarc_stream_status",
    "1 for the present status: ok, drifting, broken, recovered or stale.",
)


class Row(NamedTuple):
    """What is shown of one stream or group."""

    stream: str
    group: str
    status: Status
    values: dict[str, float | None]


class StreamMetrics(Collector):
    """Gauges of at most `limit` streams and groups, the worst first; all rounds have no group."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._families: list[GaugeMetricFamily] = []

    def collect(self) -> list[GaugeMetricFamily]:
        """The gauges as they were read."""
        return self._families

    async def read(self, ask: Ask) -> None:
        """Read the streams on the thread that owns them, a few at a time."""
        chosen, left_out = await ask(self._choose)
        rows: list[Row] = []
        for some in slices(chosen):
            rows += await ask(partial(_rows, parts=some))
        self._families = _families(rows, left_out)

    def _choose(self, manager: StreamManager) -> tuple[list[tuple[str, str]], int]:
        """The streams and groups that are shown, and how many are not."""
        chosen = list(itertools.islice(worst_first(manager), self._limit))
        parts = sum(len(stream.watch.parts) for stream in manager.streams.values())
        return [(stream.name, part) for stream, part in chosen], parts - len(chosen)


def _rows(manager: StreamManager, parts: Sequence[tuple[str, str]]) -> list[Row]:
    moment = manager.moment()
    return [
        Row(name, part, stream.watch.announced_status(part), _values(stream, part, moment))
        for name, part in parts
        if (stream := manager.streams.get(name)) is not None and part in stream.watch.parts
    ]


def _families(rows: Iterable[Row], left_out: int) -> list[GaugeMetricFamily]:
    values = {
        name: GaugeMetricFamily(f"localarc_stream_{name}", text, labels=_PART)
        for name, text in _FAMILIES.items()
    }
    statuses = GaugeMetricFamily(*_STATUS, labels=[*_PART, "status"])
    for row in rows:
        for status in SEVERITY:
            statuses.add_metric([row.stream, row.group, status], status == row.status)
        for name, value in row.values.items():
            if value is not None:
                values[name].add_metric([row.stream, row.group], value)
    return [*values.values(), statuses, GaugeMetricFamily(*_LEFT_OUT, value=left_out)]


def worst_first(manager: StreamManager) -> Iterator[tuple[Stream, str]]:
    """All parts of all streams: those that are not ok, then whole streams, then groups."""
    bad = sorted(
        (SEVERITY[told.state], part != WHOLE, name, part)
        for name, stream in manager.streams.items()
        for part, told in stream.watch.announced.items()
    )
    for _, _, name, part in bad:
        yield manager.streams[name], part
    streams = sorted(manager.streams.values(), key=lambda stream: stream.name)
    for stream in streams:
        if WHOLE not in stream.watch.announced:
            yield stream, WHOLE
    for stream in streams:
        for part in sorted(stream.watch.parts):
            if part != WHOLE and part not in stream.watch.announced:
                yield stream, part


def _values(stream: Stream, part: str, moment: Moment) -> dict[str, float | None]:
    health, whole = stream.watch.health(part, moment), part == WHOLE
    state = stream.state
    group = None if whole else state.groups[part]
    risk = state.risk if group is None else group.loss_sum / group.rounds if group.rounds else None
    return {
        "risk": risk,
        "recent_risk": health.recent_risk,
        "at_least": health.at_least,
        "target": health.target,
        "bound": stream.bounds.get(part),
        "pending": len(state.pending) if whole else None,
        "last_feedback_timestamp_seconds": stream.watch.last_at(part),
    }
