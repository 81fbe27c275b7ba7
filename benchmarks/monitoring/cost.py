"""Cost: CPU time of an update, and memory."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.monitoring.watchers import LIMIT, TARGET
from localarc.monitoring import Monitor


@dataclass(frozen=True)
class Cost:
    """Microseconds of CPU of one update after some rounds, the least of several."""

    what: str
    rounds: int
    microseconds: float


def measure() -> list[Cost]:
    """An update of a monitor, of MAPIE's, and the health of a monitor."""
    rng = np.random.default_rng(0)
    misses = (rng.random(100_000) < TARGET).astype(float).tolist()
    graded = rng.beta(0.5, 4.5, 100_000).tolist()
    rows = [
        Cost("Monitor.update, losses of 0 and 1", 100_000, _per_update(misses, False)),
        Cost("Monitor.update, graded losses and times", 100_000, _per_update(graded, True)),
    ]
    monitor = Monitor(TARGET)
    for loss in misses[:5000]:
        monitor.update(loss)
    rows.append(Cost("Monitor.health", 5_000, _least(monitor.health, 20)))
    return rows + [Cost("MAPIE update", n, _mapie(misses[:n])) for n in (100, 1_000)]


def _per_update(losses: list[float], times: bool) -> float:
    """The least of ten parts of a run."""
    monitor, parts = Monitor(TARGET), []
    for start in range(0, len(losses), len(losses) // 10):
        part = losses[start : start + len(losses) // 10]
        begun = time.process_time()
        for t, loss in enumerate(part, start=start):
            monitor.update(loss, at=float(t) if times else None)
        parts.append((time.process_time() - begun) / len(part))
    return 1e6 * min(parts)


def _mapie(losses: list[float]) -> float:
    """One round after a history, which RiskMonitoring goes through again."""
    from mapie.exchangeability_testing import RiskMonitoring

    made = RiskMonitoring("accuracy", test_level=0.02, threshold=LIMIT, warn=False)
    made.update(np.zeros(len(losses)), np.array(losses))
    return _least(lambda: made.update(np.zeros(1), np.zeros(1)), 2)


def _least(call: Callable[[], Any], times: int) -> float:
    """The least CPU time of some calls, in microseconds."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        call()
        found.append(time.process_time() - begun)
    return 1e6 * min(found)


def bytes_of_a_monitor() -> float:
    """Memory of a monitor that has seen 1,500 rounds with random times."""
    rng = np.random.default_rng(0)
    losses = rng.beta(0.5, 4.5, 1500).tolist()
    at = np.cumsum(rng.exponential(10.0, 1500)).tolist()
    Monitor(TARGET).update(0.5, at=0.0)  # shared tables
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    monitors = [Monitor(TARGET) for _ in range(100)]
    for monitor in monitors:
        for loss, when in zip(losses, at, strict=True):
            monitor.update(loss, at=when)
    size = (tracemalloc.get_traced_memory()[0] - before) / len(monitors)
    tracemalloc.stop()
    return size
