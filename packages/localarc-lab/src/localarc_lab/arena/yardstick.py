"""The yardstick of a stream: the one threshold that meets the target in hindsight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from localarc.curves import Curves
from localarc.measures import MEASURES, Rounds

WITHOUT_TARGET = tuple(each for each in MEASURES if each.unit != "loss")
"""Measures that are stated in units of what the best constant threshold has."""


@dataclass(frozen=True)
class Yardstick:
    """What the smallest constant threshold whose risk is at most the target has.

    It is chosen with all outcomes known, so it is no method; sizes, for example, are stated
    in its units, since those of different streams cannot be averaged otherwise.

    Parameters
    ----------
    threshold : float
        The threshold.
    values : mapping of str to float
        The value of every measure that has no target, by its name.

    Examples
    --------
    >>> from localarc.curves import miscoverage
    >>> found = hindsight(miscoverage([1.0, 2.0, 3.0, 4.0], widths=0.0), alpha=0.25)
    >>> found.threshold, found.values["size"]
    (3.0, 6.0)
    """

    threshold: float
    values: Mapping[str, float]


def hindsight(curves: Curves, alpha: float) -> Yardstick:
    """Return the yardstick of a stream."""
    threshold = _smallest_threshold(curves, alpha)
    rounds = Rounds.at(threshold, curves, alpha)
    return Yardstick(threshold, {each.name: each.of(rounds) for each in WITHOUT_TARGET})


def _smallest_threshold(curves: Curves, alpha: float) -> float:
    """By bisection over all steps, since the risk does not increase with the threshold."""
    steps = np.unique(curves.breakpoints[np.isfinite(curves.breakpoints)])
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if curves.losses_at(np.full(len(curves), steps[middle])).mean() <= alpha:
            high = middle
        else:
            low = middle + 1
    return float(steps[low])
