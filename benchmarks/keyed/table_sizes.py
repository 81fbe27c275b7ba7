"""What a small table of nodes costs an AutoLARC: memory per key, and how even its risk is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from localarc import AutoLARC, replay
from localarc.calibrators.auto.settings import BYTES
from localarc.curves import miscoverage
from localarc.many.panel.auto_streams import KEY_BYTES

ALPHA = 0.1
ROUNDS = 2000
SEEDS = 3
DIMENSIONS = (1, 2, 7)
TABLES = (40_000, KEY_BYTES, BYTES)
_OUTER = 1 / 3


@dataclass(frozen=True)
class TableSize:
    """Means over seeds, after 2,000 rounds in which scores spread along the first feature."""

    features: int
    max_bytes: int
    bytes_in_memory: float
    risk: float
    lower_third: float
    upper_third: float
    threshold: float


def table_sizes() -> Iterator[TableSize]:
    """Measure every number of features with every table."""
    for features in DIMENSIONS:
        for max_bytes in TABLES:
            runs = [_run(features, max_bytes, seed) for seed in range(SEEDS)]
            yield TableSize(features, max_bytes, *np.mean(runs, axis=0).tolist())


def _run(features: int, max_bytes: int, seed: int) -> tuple[float, ...]:
    random = np.random.default_rng(seed)
    X = random.uniform(size=(ROUNDS, features))
    scores = np.abs(random.normal(size=ROUNDS)) * (0.3 + 2.0 * X[:, 0])
    calibrator = AutoLARC(ALPHA, max_bytes=max_bytes)
    record = replay(calibrator, X, miscoverage(scores))
    lower, upper = X[:, 0] < _OUTER, X[:, 0] > 1.0 - _OUTER
    risks = (record.losses[chosen].mean() for chosen in (lower, upper))
    return calibrator.nbytes, record.losses.mean(), *risks, record.thresholds.mean()


def table(sizes: list[TableSize]) -> Table:
    """The sizes, aligned."""
    head = "features", "max_bytes", "kB in memory", "risk", "lower third", "upper third"
    made = Table(*head, "mean threshold", box=None, header_style="bold")
    for size in sizes:
        risks = (size.risk, size.lower_third, size.upper_third, size.threshold)
        memory = f"{size.bytes_in_memory / 1000:,.0f}"
        made.add_row(
            f"{size.features}", f"{size.max_bytes:,}", memory, *(f"{risk:.4f}" for risk in risks)
        )
    return made
