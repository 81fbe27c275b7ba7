"""Evenness: what the one knob trades, on the synthetic streams and on Elec2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.auto import streams
from benchmarks.auto.measured import Measured, plain
from benchmarks.auto.own_streams import result_of
from benchmarks.auto.streams import Work
from localarc import ARC, AutoLARC, replay

VALUES = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class Trade:
    """Excess of the worst neighbourhood and mean size, relative to the target and to ARC."""

    evenness: float
    excess: float
    size: float
    error: float  # standard error of the excess


def measure() -> list[Measured]:
    found = trades(streams_to_use())
    return [
        plain(
            "mean of six streams",
            f"evenness {trade.evenness:g}: excess of the worst neighbourhood, size over ARC's",
            trade.excess,
            f"{trade.excess:.3f} ± {trade.error:.3f} of the target, {trade.size:.3f}",
        )
        for trade in found
    ]


def streams_to_use() -> list[Work]:
    both = [streams.synthetic(shift, seed=seed) for shift in (False, True) for seed in (0, 1)]
    return [*both, streams.heavy_tails(), streams.electricity()]


def trades(works: list[Work]) -> list[Trade]:
    """Means over streams, one for each value."""
    found = []
    for value in VALUES:
        excess, sizes, errors = np.array([_trade(work, value) for work in works]).T
        error = float(np.sqrt((errors**2).sum()) / len(works))
        found.append(Trade(value, float(excess.mean()), float(sizes.mean()), error))
    return found


def _trade(work: Work, value: float) -> tuple[float, float, float]:
    """Excess, size over ARC's, and the excess's standard error on one stream."""
    unit = float(np.std(streams.scores_of(work)))
    arc = replay(ARC(work.alpha, unit), work.X, work.curves)
    run = replay(AutoLARC(work.alpha, evenness=value), work.X, work.curves)
    result = result_of(work, "AutoLARC", run.losses, run.sizes)
    size = result.size / float(np.nanmean(arc.sizes))
    return result.worst.risk / work.alpha - 1.0, size, result.worst.standard_error / work.alpha
