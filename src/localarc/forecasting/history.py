"""History: past forecasts with their outcomes, in the order in which they became known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from localarc.validation import FloatArray, IntArray


def outcomes(series: IntArray, time: IntArray, y: FloatArray) -> IntArray:
    """One row for every series and time with an outcome, in order of time."""
    known = np.flatnonzero(~np.isnan(y))
    order = known[np.lexsort((series[known], time[known]))]
    same = (np.diff(series[order]) == 0) & (np.diff(time[order]) == 0)
    if (same & (np.diff(y[order]) != 0.0)).any():
        raise ValueError("the history has two outcomes for the same series and time.")
    first = np.concatenate([np.ones(min(len(order), 1), bool), ~same])
    return np.asarray(order[first])


def moments(
    cutoff: IntArray, known: IntArray, time: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """By cutoff: the rows of `known` whose time has come, and the rows that are forecast then.

    At last come the rows whose time is after all cutoffs.
    """
    by_cutoff, when = np.argsort(cutoff, kind="stable"), time[known]
    in_order, before = cutoff[by_cutoff], 0
    for now in np.unique(cutoff):
        until = int(np.searchsorted(when, now, side="right"))
        start, stop = np.searchsorted(in_order, now), np.searchsorted(in_order, now, side="right")
        yield known[before:until], by_cutoff[start:stop]
        before = until
    yield known[before:], by_cutoff[:0]
