"""Where scores lie: their recent mean and deviation for every series and step."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.calibrators.undo import Undo
from localarc.constants import (
    COARSER,
    DEVIATIONS_PER_UNIT,
    MEMORY,
    SMALLEST_PART,
    TINY_UNIT,
    WARM,
)
from localarc.forecasting.columns import FINITE, Arrays, Columns, named, part
from localarc.validation import FloatArray, IntArray

SHORT_MEMORY = 25.0  # the same after a change
CHANGE = 1.0  # units between the means of the two memories that mean a change
OUTLIER = 8.0  # units from the mean beyond which a score moves it no further
_KINDS = dict.fromkeys(("weight", "mean", "deviation"), ("f8", None))


class ScoreScale:
    """Mean and unit of the scores of a series and step.

    A step that was seen rarely has those of its series, and a series that was never seen those of
    all others. All scores that arrive for one node at the same time count as one.
    """

    def __init__(self, steps: int, undo: Undo | None = None) -> None:
        self.steps = steps
        self._all, self._cells = Columns(_KINDS, 1, undo), Columns(_KINDS, undo=undo)
        self._series = Columns(_KINDS | {"recent": ("f8", None)}, undo=undo)

    def reserve(self, series: int) -> None:
        """Make room for this number of series."""
        self._series.reserve(series)
        self._cells.reserve(self._series.rows * self.steps)

    def look(self, series: IntArray, step: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and unit of each round's scores; 0 and 1 before the first score."""
        everyone, own = self._all, self._series
        seen = own["weight"][series] > 0.0
        mean = np.where(seen, own["mean"][series], everyone["mean"][0])
        away = np.where(seen, own["deviation"][series], everyone["deviation"][0])
        cell = series * self.steps + step
        weight = self._cells["weight"][cell]
        part = weight / (weight + COARSER)
        fine = away + part * (self._cells["deviation"][cell] - away)
        mean = mean + part * (self._cells["mean"][cell] - mean)
        unit = DEVIATIONS_PER_UNIT * np.maximum(fine, SMALLEST_PART * away)
        return mean, np.where(unit > TINY_UNIT, unit, 1.0)

    def learn(
        self, series: IntArray, step: IntArray, scores: FloatArray, share: FloatArray | None = None
    ) -> None:
        """Follow the scores that have arrived at one time, each of which counts as its share."""
        share = np.ones(len(scores)) if share is None else share
        mean, unit = self.look(series, step)
        own = self._series
        if_known = np.where(own["weight"][series] >= WARM, OUTLIER * unit, np.inf)
        scores = np.clip(scores, mean - if_known, mean + if_known)
        cell, everyone = series * self.steps + step, np.zeros(len(scores), np.int64)
        _follow(self._cells, cell, scores, mean, share)
        _follow(own, series, scores, own["mean"][series], share)
        _follow(self._all, everyone, scores, self._all["mean"][everyone], share)
        self._hurry(series, cell, scores, share)

    def _hurry(
        self, series: IntArray, cell: IntArray, scores: FloatArray, share: FloatArray
    ) -> None:
        """Shorten the memory of series whose recent scores lie elsewhere."""
        at, (mean, part), inverse = _means(series, scores, share)
        own = self._series
        pace = part / np.minimum(own["weight"][at], SHORT_MEMORY)
        own["recent"][at] += pace * (mean - own["recent"][at])
        away = np.abs(own["recent"][at] - own["mean"][at])
        changed = away > CHANGE * DEVIATIONS_PER_UNIT * own["deviation"][at]
        for nodes, index in ((own, at[changed]), (self._cells, cell[changed[inverse]])):
            nodes["weight"][index] = np.minimum(nodes["weight"][index], SHORT_MEMORY)

    def knows(self, series: IntArray, times: float = 0.0) -> Any:
        """Whether the series, or all series together, were scored at more than `times` times."""
        return (self._series["weight"][series] > times) | (self._all["weight"][0] > times)

    def state(self, series: int) -> Arrays:
        """The arrays of the first `series` series."""
        return (
            named("all", self._all.stored(slice(1)))
            | named("series", self._series.stored(slice(series)))
            | named("cells", self._cells.stored(slice(series * self.steps)))
        )

    def restore(self, arrays: Arrays) -> None:
        """Continue from `state`."""
        self._all.restore(part("all", arrays))
        self._series.restore(part("series", arrays))
        self._cells.restore(part("cells", arrays))
        for nodes in (self._all, self._series, self._cells):
            nodes.require(0.0, FINITE, "weight", "deviation")
            nodes.require(-FINITE, FINITE, "mean")
        self._series.require(-FINITE, FINITE, "recent")


def _follow(
    nodes: Columns, index: IntArray, scores: FloatArray, centre: FloatArray, share: FloatArray
) -> None:
    """Move mean and deviation of each node towards those of its new scores."""
    at, (mean, away, part), _ = _means(index, scores, np.abs(scores - centre), share)
    weight = nodes["weight"][at] * (1.0 - part / MEMORY) + part
    nodes["weight"][at] = weight
    nodes["mean"][at] += part / weight * (mean - nodes["mean"][at])
    # The first score has no mean to deviate from: its deviation is replaced by the second one's.
    since = np.maximum(weight - 1.0, part)
    nodes["deviation"][at] += part / since * (away - nodes["deviation"][at])


def _means(
    index: IntArray, *values: FloatArray
) -> tuple[IntArray, tuple[FloatArray, ...], IntArray]:
    """Distinct nodes, the means of their values, and where each value's node is among them."""
    at, inverse, count = np.unique(index, return_inverse=True, return_counts=True)
    return at, tuple(np.bincount(inverse, each) / count for each in values), inverse
