"""A short run of the load of benchmarks/service: no errors, and memory that stays flat."""

from __future__ import annotations

import asyncio

import pytest
from benchmarks.service.cases import Load, Running, drive, prepare
from benchmarks.service.report import service

pytestmark = pytest.mark.service
STREAMS = 4
CONNECTIONS = 16


async def enough(running: Running, requests: int) -> Load:
    load = Load()
    await drive(load, running, CONNECTIONS, STREAMS, lambda: load.requests < requests)
    return load


async def under_load(running: Running) -> tuple[Load, Load]:
    await prepare(running.port, STREAMS)
    return await enough(running, 6_000), await enough(running, 12_000)


def test_under_load_nothing_fails_and_memory_stays_flat() -> None:
    with service() as running:
        first, second = asyncio.run(under_load(running))
    assert first.requests + second.requests >= 18_000
    assert first.errors == second.errors == 0
    grown = max(second.memory) - max(first.memory)
    assert grown < 6e6, f"{grown / second.requests:.0f} bytes per request"
