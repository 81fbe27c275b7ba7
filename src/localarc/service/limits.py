"""Limits: how much of everything one service takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Beyond these, requests are refused.

    The log is not: it is folded into snapshots, so that it never holds more than `log_events`
    events and `log_bytes` bytes of entries, and those of one commit. Beside it the folder holds a
    snapshot for each stream and what SQLite writes ahead, 4 MB as a rule.
    """

    body_bytes: int = 2**20
    body_seconds: float = 60.0  # from its first byte to its last
    state_bytes: int = 2**26
    streams: int = 256
    pending: int = 10_000  # in one stream
    groups: int = 64  # in one stream
    listeners: int = 64
    log_events: int = 50_000
    log_bytes: int = 2**26
