"""Limits: how much of everything one service takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Beyond these, requests are refused; the log is folded into snapshots instead."""

    body_bytes: int = 2**20
    state_bytes: int = 2**26
    streams: int = 256
    pending: int = 10_000  # in one stream
    groups: int = 64  # in one stream
    listeners: int = 64
    log_events: int = 50_000
    log_bytes: int = 2**26
