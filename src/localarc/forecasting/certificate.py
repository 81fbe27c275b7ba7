"""What bands have achieved and what is guaranteed: all forecasts, every series, every step."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localarc.betting.bettors import Bettors
from localarc.betting.node_certificate import NodeCertificate
from localarc.forecasting.offsets import HOURS
from localarc.forecasting.rounds import Rounds
from localarc.guarantees.bounds import Bound, Side
from localarc.guarantees.verdict import Part, Verdict, verdict
from localarc.validation import FloatArray, IntArray

_ASSUMES = ("the running sums are complete",)
_DAYS = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"


@dataclass(frozen=True)
class Share:
    """What was seen in an hour of the day, or on a weekday; nothing is promised for it.

    Parameters
    ----------
    rounds : float
        How many rounds.
    risk : float
        The share of them that was missed.
    times : float
        About how many of them are independent.

    Examples
    --------
    >>> Share(120.0, 0.25, times=60.0).risk
    0.25
    """

    rounds: float
    risk: float
    times: float


@dataclass(frozen=True)
class BandsCertificate(NodeCertificate):
    """The misses of one level: of all forecasts, and of each series and step.

    `Bands.certificate` makes these. Bounds are those of theorem E for what has happened: they hold
    for any outcomes, any forecasts and any order in which outcomes became known.

    Parameters
    ----------
    rounds : float
        The number of forecasts that the promise is about and whose outcome is known; of paths, if
        bands are joint.
    alpha, risk, excess, worst_stretch, above, below
        As of a node, for all rounds.
    coverage : float
        The level.
    pending : int
        How many outcomes are still to come.
    uninformed : int
        How many outcomes are of forecasts whose bands were unbounded, because nothing was known.
    times : float
        About how many rounds are independent: the steps of one path count as one.
    series : mapping
        The certificate of each series.
    steps : mapping
        The certificate of each step, counted from 1; empty if there is one, or bands are joint.
    hours, weekdays : mapping
        What was seen in each hour of the day, and on each weekday, of the times that forecasts are
        about (of a path, its first step), by their clock. Empty if all have the same.
    size_ratio : float
        How many times as large thresholds are as a quantile of the same scores, in a sample of the
        latest rounds of up to 16 series; NaN while there are too few.

    Examples
    --------
    >>> import pandas as pd
    >>> from localarc.forecasting import Bands
    >>> bands = Bands(coverage=0.9, horizon=1, initial_threshold=0.0)
    >>> _ = bands.predict(pd.DataFrame({"unique_id": ["a"], "ds": [1], "yhat": [5.0]}))
    >>> bands.observe(pd.DataFrame({"unique_id": ["a"], "ds": [1], "y": [6.0]}))
    1
    >>> found = bands.certificate()
    >>> found.rounds, found.risk, list(found.series), list(found.steps)
    (1.0, 1.0, ['a'], [])
    """

    coverage: float
    pending: int
    times: float
    series: Mapping[Hashable, NodeCertificate]
    steps: Mapping[int, NodeCertificate]
    uninformed: int
    hours: Mapping[int, Share] = field(default_factory=dict)
    weekdays: Mapping[str, Share] = field(default_factory=dict)
    size_ratio: float = math.nan

    @property
    def verdict(self) -> Verdict:
        """Whether the level is kept, over all and in every series, in one sentence."""
        share = self.times / self.rounds if self.rounds else 1.0
        parts = [Part(name, share * part.rounds, part.risk) for name, part in self.series.items()]
        claimed = [bound for bound in (self.above, self.below) if bound.passed] or [self.bound]
        return verdict(
            self.alpha,
            self.risk,
            math.ceil(self.times),
            bound=min((b.value for b in claimed if b.holds or b.passed), default=None),
            parts=parts if len(parts) > 1 else (),
            misses=True,
            size_ratio=self.size_ratio,
        )


def certify(rounds: Rounds, level: int, names: list[Hashable]) -> BandsCertificate:
    """The certificate of one level; joint bands have one step."""
    bettors, steps = rounds.bettors, rounds.steps
    cells = slice(len(names) * steps)
    sums = _Sums(bettors, level, cells)
    grid = np.arange(len(names) * steps).reshape(len(names), steps)
    whole = sums.node(grid.reshape(-1))
    return BandsCertificate(
        **vars(whole),
        coverage=1.0 - whole.alpha,
        pending=rounds.pending,
        uninformed=rounds.uninformed,
        times=whole.rounds / _overlap(bettors, cells, steps),
        series={name: sums.node(grid[i]) for i, name in enumerate(names)},
        steps={h + 1: sums.node(grid[:, h]) for h in range(steps)} if steps > 1 else {},
        **_by_clock(rounds.by_phase[:, [0, 1 + level]], steps, _open_together(bettors, cells)),
        size_ratio=rounds.sizes.ratio(level, whole.alpha),
    )


def _by_clock(counts: FloatArray, steps: int, paths: float) -> dict[str, Any]:
    """Hours and weekdays, of rounds and misses by hour of the week.

    Steps go through the hours one after the other, and through the weekdays if there is one hour.
    """
    week = counts.reshape(7, HOURS, 2)
    by_hour, by_day = week.sum(axis=0), week.sum(axis=1)
    hours, days = (max(1, int((by[:, 0] > 0.0).sum())) for by in (by_hour, by_day))
    in_day = steps if hours > 1 else math.ceil(steps / days)
    return {
        "hours": _shares(range(HOURS), by_hour, max(paths, math.ceil(steps / hours))),
        "weekdays": _shares(_DAYS, by_day, max(paths, in_day)),
    }


def _shares(names: Iterable[Any], counts: FloatArray, overlap: float) -> dict[Any, Share]:
    found = {
        name: Share(rounds, missed / rounds, rounds / overlap)
        for name, (rounds, missed) in zip(names, counts.tolist(), strict=True)
        if rounds
    }
    return found if len(found) > 1 else {}


def _overlap(bettors: Bettors, cells: slice, steps: int) -> float:
    """How many rounds are about the same outcomes: steps, or paths that were open together."""
    return max(steps, _open_together(bettors, cells))


def _open_together(bettors: Bettors, cells: slice) -> float:
    """The most paths open at a time; each outcome is a step of all of them."""
    return float(1.0 + bettors.cells["most"][cells].max(initial=0.0))


class _Sums:
    """The sums of all cells, of one level."""

    def __init__(self, bettors: Bettors, level: int, cells: slice) -> None:
        self.alpha, self.top = float(bettors.alphas[level]), float(bettors.top[level])
        self.visits = bettors.cells["visits"][cells]
        self.misses = bettors.cells["misses"][cells, level]
        self.gains = bettors.cells["up gain"][cells, level]  # the worst stretch so far
        up, down = (gains[:, level] for gains in bettors.most_gains(cells))
        self.above = np.minimum(up, self.visits * (1.0 - self.alpha) / self.top)
        self.below = np.minimum(down, self.visits * self.alpha / self.top)

    def node(self, cells: IntArray) -> NodeCertificate:
        """What was seen and is guaranteed at some cells together: the sum of their bounds."""
        rounds, misses = float(self.visits[cells].sum()), float(self.misses[cells].sum())
        return NodeCertificate(
            rounds=rounds,
            alpha=self.alpha,
            risk=misses / rounds if rounds else math.nan,
            excess=misses - self.alpha * rounds,
            worst_stretch=self.top * float(self.gains[cells].sum()),
            above=self._bound(cells, self.above, rounds, misses, "above"),
            below=self._bound(cells, self.below, rounds, misses, "below"),
        )

    def _bound(
        self, cells: IntArray, most: FloatArray, rounds: float, misses: float, side: Side
    ) -> Bound:
        """The largest mean deviation on one side, if z sums up to `most` in each cell."""
        name = f"theorem E, {side}"
        if not rounds:
            return Bound(name, math.inf, _ASSUMES, ("no outcome is known",), side)
        value = self.top * float(most[cells].sum()) / rounds
        return Bound(name, value, _ASSUMES, (), side).beside(misses / rounds - self.alpha)
