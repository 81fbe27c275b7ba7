"""Recoveries: which broken streams are called recovered, and after how many rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.monitoring import streams
from benchmarks.monitoring.watchers import LIMIT, TARGET
from localarc.monitoring import Monitor
from localarc.validation import FloatArray

BREAK = 0.25  # the risk of the first rounds
BAD = 1_000
AFTER = 10_000
RISKS = (0.5 * TARGET, 0.8 * TARGET, TARGET, LIMIT, 1.5 * TARGET + 0.02, 1.5 * LIMIT)


@dataclass(frozen=True)
class Recoveries:
    """Of streams with a risk after the break: shares that recover in time, and break again."""

    risk: float
    streams: int
    within_2000: float
    within_5000: float
    within_10000: float
    median: float
    broken_again: float


def measure(count: int) -> list[Recoveries]:
    """Streams that break, and have another risk from then on."""
    return [_row(risk, count) for risk in RISKS]


def _row(risk: float, count: int) -> Recoveries:
    rounds = streams.misses(count, BAD + AFTER, 6, risk, BAD, BREAK)
    table = np.array(list(rounds))
    found = [_recovery(losses) for losses in table.T]
    first = np.array([each for each, _ in found])
    soon, later, ever = (float((first <= within).mean()) for within in (2_000, 5_000, AFTER))
    again = sum(each for _, each in found) / count
    return Recoveries(risk, count, soon, later, ever, float(np.median(first)), again)


def _recovery(losses: FloatArray) -> tuple[float, bool]:
    """Rounds from the end of the break to the recovery, and whether the stream breaks again."""
    monitor, first = Monitor(TARGET), np.inf
    for t, loss in enumerate(losses.tolist(), start=1 - BAD):
        changed = monitor.update(loss)
        if changed == "recovered":
            first = min(first, t)
        elif changed == "broken" and np.isfinite(first):
            return first, True
    return first, False
