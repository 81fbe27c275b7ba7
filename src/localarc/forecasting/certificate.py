"""What bands have achieved and what is guaranteed: all forecasts, every series, every step."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from localarc.forecasting.bettors import Bettors
from localarc.guarantees.bounds import Bound
from localarc.guarantees.theorem_e import NodeCertificate
from localarc.guarantees.verdict import Part, Verdict, verdict
from localarc.validation import FloatArray, IntArray

_ASSUMES = ("the running sums are complete",)


@dataclass(frozen=True)
class BandsCertificate(NodeCertificate):
    """The misses of one level: of all forecasts, and of each series and step.

    `Bands.certificate` makes these. Bounds are those of theorem E for what has happened: they hold
    for any outcomes, any forecasts and any order in which outcomes became known.

    Parameters
    ----------
    rounds : float
        The number of forecasts whose outcome is known; of paths, if bands are joint.
    alpha, risk, excess, worst_stretch, above, below
        As of a node, for all rounds.
    coverage : float
        The level.
    pending : int
        How many outcomes are still to come.
    times : float
        About how many rounds are independent: the steps of one path count as one.
    series : mapping
        The certificate of each series.
    steps : mapping
        The certificate of each step, counted from 1; empty if there is one, or bands are joint.

    Examples
    --------
    >>> import pandas as pd
    >>> from localarc.forecasting import Bands
    >>> bands = Bands(coverage=0.9, horizon=1)
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

    @property
    def verdict(self) -> Verdict:
        """Whether the level is kept, over all and in every series, in one sentence."""
        share = self.times / self.rounds if self.rounds else 1.0
        parts = [Part(name, share * part.rounds, part.risk) for name, part in self.series.items()]
        return verdict(
            self.alpha,
            self.risk,
            math.ceil(self.times),
            bound=self.bound.value if self.bound.holds else None,
            parts=parts if len(parts) > 1 else (),
            misses=True,
        )


def certify(
    bettors: Bettors, level: int, names: list[Hashable], steps: int, pending: int
) -> BandsCertificate:
    """The certificate of one level; joint bands have one step."""
    cells = slice(len(names) * steps)
    sums = _Sums.of(bettors, level, cells)
    grid = np.arange(len(names) * steps).reshape(len(names), steps)
    whole = sums.node(grid.reshape(-1))
    return BandsCertificate(
        **vars(whole),
        coverage=1.0 - whole.alpha,
        pending=pending,
        times=whole.rounds / _overlap(bettors, cells, steps),
        series={name: sums.node(grid[i]) for i, name in enumerate(names)},
        steps={h + 1: sums.node(grid[:, h]) for h in range(steps)} if steps > 1 else {},
    )


def _overlap(bettors: Bettors, cells: slice, steps: int) -> float:
    """How many rounds are about the same outcomes: steps, or paths that were open together."""
    return float(max(steps, 1.0 + bettors.cells["most"][cells].max(initial=0.0)))


@dataclass(frozen=True)
class _Sums:
    """The sums of all cells, of one level."""

    alpha: float
    top: float
    visits: FloatArray
    misses: FloatArray
    gains: FloatArray  # the worst stretch so far
    above: FloatArray  # the most that z can sum up to
    below: FloatArray

    @classmethod
    def of(cls, bettors: Bettors, level: int, cells: slice) -> _Sums:
        alpha, top = float(bettors.alphas[level]), float(bettors.top[level])
        visits = bettors.cells["visits"][cells]
        up, down = (gains[:, level] for gains in bettors.most_gains(cells))
        return cls(
            alpha,
            top,
            visits,
            bettors.cells["misses"][cells, level],
            bettors.cells["up gain"][cells, level],
            np.minimum(up, visits * (1.0 - alpha) / top),
            np.minimum(down, visits * alpha / top),
        )

    def node(self, cells: IntArray) -> NodeCertificate:
        """What was seen and is guaranteed at some cells together: the sum of their bounds."""
        rounds, misses = float(self.visits[cells].sum()), float(self.misses[cells].sum())
        return NodeCertificate(
            rounds=rounds,
            alpha=self.alpha,
            risk=misses / rounds if rounds else math.nan,
            excess=misses - self.alpha * rounds,
            worst_stretch=self.top * float(self.gains[cells].sum()),
            above=self._bound(cells, rounds, self.above, "above"),
            below=self._bound(cells, rounds, self.below, "below"),
        )

    def _bound(self, cells: IntArray, rounds: float, most: FloatArray, side: str) -> Bound:
        value = self.top * float(most[cells].sum()) / rounds if rounds else math.inf
        unmet = () if rounds else ("no outcome is known",)
        return Bound(f"theorem E, {side}", value, _ASSUMES, unmet, side)  # type: ignore[arg-type]
