"""Metrics of each stream and group by name, for alerts: opt-in, and limited in number."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from localarc.service.streams.bounds import above_and_below, finite
from localarc.service.streams.manager import StreamManager
from localarc.service.streams.stream import Stream
from localarc.service.streams.watch import SEVERITY, WHOLE, Moment

_PART = "stream", "group"
_FAMILIES = {
    "risk": "Mean of all losses.",
    "recent_risk": "Mean of the latest losses, about as many as the stream's window.",
    "at_least": "Lower confidence limit of the risk since the last acknowledgement.",
    "target": "Target risk.",
    "bound": "How far above the target the risk can be, where that is guaranteed.",
    "pending": "Predictions without feedback; of whole streams only.",
    "last_feedback_timestamp_seconds": "When the latest loss arrived.",
}
_LEFT_OUT = "localarc_stream_metrics_left_out", "Streams and groups without metrics of their own."
_STATE = "localarc_stream_state", "1 for the present state: ok, drifting, broken or stale."


class StreamMetrics(Collector):
    """Gauges of at most `limit` streams and groups, the worst first; all rounds have no group."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._families: list[GaugeMetricFamily] = []

    def collect(self) -> list[GaugeMetricFamily]:
        """The gauges as they were read."""
        return self._families

    def read(self, manager: StreamManager) -> None:
        """Read the streams; runs on the writer's thread, which owns them."""
        values = {
            name: GaugeMetricFamily(f"localarc_stream_{name}", text, labels=_PART)
            for name, text in _FAMILIES.items()
        }
        states = GaugeMetricFamily(*_STATE, labels=[*_PART, "state"])
        moment, shown = manager.moment(), 0
        for stream, part in itertools.islice(worst_first(manager), self._limit):
            shown += 1
            state = stream.watch.announced_state(part)
            for each in SEVERITY:
                states.add_metric([stream.name, part, each], each == state)
            for name, value in _values(stream, part, moment).items():
                if value is not None:
                    values[name].add_metric([stream.name, part], value)
        parts = sum(len(stream.watch.parts) for stream in manager.streams.values())
        left_out = GaugeMetricFamily(*_LEFT_OUT, value=parts - shown)
        self._families = [*values.values(), states, left_out]


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


def _values(stream: Stream, part: str, moment: Moment) -> dict[str, Any]:
    health, whole = stream.watch.health(part, moment), part == WHOLE
    state = stream.state
    group = None if whole else state.groups[part]
    risk = state.risk if group is None else group.loss_sum / group.rounds if group.rounds else None
    return {
        "risk": risk,
        "recent_risk": health.recent_risk,
        "at_least": health.at_least,
        "target": health.target,
        "bound": _bound(stream, part, risk),
        "pending": len(state.pending) if whole else None,
        "last_feedback_timestamp_seconds": stream.watch.last_at(part),
    }


def _bound(stream: Stream, part: str, risk: float | None) -> float | None:
    """How far the risk of a part can be above its target."""
    if risk is None:
        return None
    certificate = stream.certificate()
    if part != WHOLE:
        found = certificate.groups.get(part)
        return above_and_below(found, risk - stream.state.config.alpha)[0]
    tightest = certificate.tightest
    return None if tightest is None or tightest.side == "below" else finite(tightest.value)
