"""Limits of one service."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True)
class Limits:
    """Requests beyond these limits are rejected, except for those of the event log.

    The log is compacted into snapshots, so that it holds at most `log_events` events and
    `log_bytes` bytes of events, plus those of one commit. The data folder also holds one snapshot
    per stream and SQLite's write-ahead log, usually 4 MB.
    """

    head_bytes: int = 2**16  # request line and header fields
    head_fields: int = 100
    head_seconds: float = 10.0  # from the first byte of a head, or the connection, to the last
    body_bytes: int = 2**20
    body_seconds: float = 60.0  # from the first byte of a body to the last
    idle_seconds: float = 30.0  # between two requests of a connection
    reading_seconds: float = 60.0  # in which a client must read a part of its response
    connections: int = 2048
    connections_per_address: int = 512
    state_bytes: int = 2**26
    streams: int = 256
    pending: int = 10_000  # per stream
    groups: int = 64  # per stream
    subscribers: int = 64
    log_events: int = 50_000
    log_bytes: int = 2**26
    memory_bytes: int | None = None  # of all streams together, as estimated
    expiry_grace: float = 300.0  # seconds after a start in which no older prediction expires


def half_of_memory() -> int:
    """Half of the memory that the machine, or the container, has."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):  # no limit is called "max"
        found = min(found, int(_CONTAINER.read_text()))
    return found // 2
