"""Running risk: the mean loss after each round, against the target and what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from localarc import metrics
from localarc.figures.frame import frame, legend, plain, target_line
from localarc.figures.palette import colours
from localarc.record import Record
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400


def running_risk(
    axes: Axes, records: Mapping[str, Record], bands: Mapping[str, FloatArray] | None = None
) -> Axes:
    """The running mean loss of each method, with the bound on it as a band around the target.

    `bands` hold, for each method that has one, the bound at `shown_rounds(len(record))`.
    """
    colour = colours(records)
    target_line(axes, next(iter(records.values())).alpha)
    for name, record in records.items():
        rounds = shown_rounds(len(record))
        risk = metrics.running_risk(record.losses)[rounds - 1]
        axes.plot(rounds, risk, color=colour[name], linewidth=1.8, label=plain(name))
    for name, band in (bands or {}).items():
        if not np.isfinite(band).any():
            continue
        rounds, alpha = shown_rounds(len(records[name])), records[name].alpha
        label = f"bound ±{band[-1]:.2g}, {plain(name)}"
        axes.fill_between(rounds, alpha - band, alpha + band, color=colour[name], alpha=0.1, lw=0)
        for edge in (alpha - band, alpha + band):
            axes.plot(rounds, edge, color=colour[name], linewidth=1.0, linestyle=":", label=label)
            label = "_already in the legend"
    axes.set_ylim(0.0, _highest(records, bands or {}))
    axes.set_xlim(1, max(2, *(len(record) for record in records.values())))
    return legend(frame(axes, "Running risk", "round", "mean loss so far"))


def _highest(records: Mapping[str, Record], bands: Mapping[str, FloatArray]) -> float:
    """Room for the risk once it has settled, and for the widest band at the end."""
    tops = [2.2 * record.alpha for record in records.values()]
    for record in records.values():
        risk = metrics.running_risk(record.losses)
        tops.append(1.15 * float(risk[min(len(risk) - 1, max(20, len(risk) // 20)) :].max()))
    ends = [records[name].alpha + 1.2 * float(band[-1]) for name, band in bands.items()]
    most = max(1.0, *(float(record.losses.max()) for record in records.values()))
    return max(*tops, min(most, max(ends, default=0.0)))


def shown_rounds(n: int) -> IntArray:
    """The rounds that a figure shows of n: all of a short stream, else 400 evenly spread."""
    return np.unique(np.linspace(1, n, min(n, _POINTS)).round().astype(np.int64))
