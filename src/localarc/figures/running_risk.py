"""Running risk: the mean loss up to each round, the target and the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from localarc import measures
from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, plain, target_line
from localarc.figures.palette import colours
from localarc.running.record import Record
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400


def running_risk(
    axes: Axes, records: Mapping[str, Record], bands: Mapping[str, FloatArray] | None = None
) -> Axes:
    """Draw the mean loss up to each round, with its bound as a band around the target.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    records : mapping of str to Record
        Records by name of the method.
    bands : mapping of str to array of float, optional
        Bounds by name of the method, at `shown_rounds(len(record))`; see `bound_over_time`.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream = heteroscedastic(100, seed=0)
    >>> record = replay(ARC(alpha=0.1), stream.X, stream.curves, stream.groups)
    >>> running_risk(Figure().subplots(), {"ARC": record}).get_xlabel()
    'round'
    """
    colour = colours(records)
    target_line(axes, next(iter(records.values())).alpha)
    for name, record in records.items():
        rounds = shown_rounds(len(record))
        risk = measures.running_risk(record.losses)[rounds - 1]
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
    return legend(frame(axes, _finding(records), "round", "mean loss"))


def _finding(records: Mapping[str, Record]) -> str:
    """Return the mean loss of each method beside the target, as the title."""
    first = next(iter(records.values()))
    losses = by_method({name: record.risk for name, record in records.items()})
    return f"Mean loss after {len(first):,} rounds: {losses} (target {first.alpha:g})"


def _highest(records: Mapping[str, Record], bands: Mapping[str, FloatArray]) -> float:
    """Return the upper end of the axis: above the risk once settled, and the final bands."""
    tops = [2.2 * record.alpha for record in records.values()]
    for record in records.values():
        risk = measures.running_risk(record.losses)
        tops.append(1.15 * float(risk[min(len(risk) - 1, max(20, len(risk) // 20)) :].max()))
    ends = [records[name].alpha + 1.2 * float(band[-1]) for name, band in bands.items()]
    most = max(1.0, *(float(record.losses.max()) for record in records.values()))
    return max(*tops, min(most, max(ends, default=0.0)))


def shown_rounds(n: int) -> IntArray:
    """Return the rounds that a figure of n rounds shows: all, or 400 of them evenly spaced.

    Parameters
    ----------
    n : int
        Number of rounds.

    Returns
    -------
    array of int
        Rounds, counted from 1.

    Examples
    --------
    >>> shown_rounds(3), len(shown_rounds(10_000))
    (array([1, 2, 3]), 400)
    """
    return np.unique(np.linspace(1, n, min(n, _POINTS)).round().astype(np.int64))
