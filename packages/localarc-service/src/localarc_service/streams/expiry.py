"""Expiry: which pending predictions have waited too long for their feedback."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from localarc_service.streams.stream import Stream

_BATCH = 1_000  # the oldest pending predictions of a stream, which are looked at


def overdue(stream: Stream, now: float, since: float) -> Iterator[str]:
    """The ids of predictions that were made at `since` or later, and whose timeout has passed."""
    timeout = stream.state.config.timeout
    if timeout is None:
        return
    for key, pending in itertools.islice(stream.state.pending.items(), _BATCH):
        if pending.at >= since and pending.at + timeout <= now:
            yield key


def count_overdue(stream: Stream, now: float) -> int:
    """How many predictions have waited longer than the timeout."""
    timeout = stream.state.config.timeout
    if timeout is None:
        return 0
    return sum(pending.at + timeout <= now for pending in stream.state.pending.values())
