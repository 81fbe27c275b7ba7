"""Metrics of all workers as those of one service: texts for Prometheus, added up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from prometheus_client.utils import floatToGoString

from localarc_service.streams.watch import SEVERITY

_READY, _LEFT_OUT = "localarc_ready", "localarc_stream_metrics_left_out"
_COMBINE: dict[str, Callable[[float, float], float]] = {
    _READY: min,
    "localarc_replay_seconds": max,
    "localarc_tokens": max,  # each worker has all of them
    "localarc_token_expiry_timestamp_seconds": max,
    "localarc_blocked_addresses": max,  # as above
}
_LABELS = re.compile(r'\{group="((?:[^"\\]|\\.)*)",(?:status="(\w+)",)?stream="([^"]*)"\}')
_format: Any = floatToGoString
_GAUGE = "# HELP {0} {1}\n# TYPE {0} gauge\n{0} {2}\n"


@dataclass
class Family:
    """The samples of one metric, by name and labels, below the lines that describe it."""

    comments: list[str] = field(default_factory=list)
    samples: dict[str, float] = field(default_factory=dict)

    def lines(self) -> Iterable[str]:
        """The lines of the text."""
        yield from self.comments
        for key, value in self.samples.items():
            yield f"{key} {_format(value)}"


def sum_texts(texts: Sequence[str], workers: int, stream_series: int = 0) -> bytes:
    """One text from those of the workers that run; `stream_series` streams and groups have names.

    A worker that does not run has no text; then the service is not ready.
    """
    families: dict[str, Family] = {}
    for text in texts:
        _add(families, text)
    if len(texts) < workers:
        families[_READY].samples[_READY] = 0.0
    if stream_series:
        _limit(families, stream_series)
    lines = [line for family in families.values() for line in family.lines()]
    more = [
        _GAUGE.format("localarc_workers", "Worker processes.", f"{workers}.0"),
        _GAUGE.format("localarc_workers_running", "Workers that respond.", f"{len(texts)}.0"),
    ]
    return "\n".join([*lines, "".join(more)]).encode()


def _add(families: dict[str, Family], text: str) -> None:
    """Add the samples of one worker to those of others."""
    family = Family()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            is_new, combine = name not in families, _COMBINE.get(name, float.__add__)
            family = families.setdefault(name, Family())
        if not line.startswith("#"):
            key, _, value = line.rpartition(" ")
            before = family.samples.get(key)
            family.samples[key] = float(value) if before is None else combine(before, float(value))
        elif is_new:
            family.comments.append(line)


def _limit(families: dict[str, Family], stream_series: int) -> None:
    """Keep the worst streams and groups, as many as one process would show."""
    statuses = families["localarc_stream_status"].samples
    found = sorted(_order(key) for key, value in statuses.items() if value == 1.0)
    dropped = {row[-2:] for row in found[stream_series:]}
    for name, family in families.items():
        if name.startswith("localarc_stream_") and dropped:
            family.samples = {
                key: value
                for key, value in family.samples.items()
                if (labels := _LABELS.search(key)) is None or labels.group(3, 1) not in dropped
            }
    families[_LEFT_OUT].samples[_LEFT_OUT] += len(dropped)


def _order(key: str) -> tuple[int, bool, str, str]:
    """What is not ok by severity, then whole streams, then groups; ends with stream and group."""
    labels = _LABELS.search(key)
    assert labels is not None, key
    group, stream = labels.group(1, 3)
    status: Any = labels.group(2)
    return SEVERITY[status], group != "", stream, group
