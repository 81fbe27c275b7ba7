"""Standings: what every method did on every stream, and one row per method over all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localarc.measures import MEASURES, RISK, Measure
from localarc.measures.text import plus_minus
from localarc.tables.from_rows import columns_from
from localarc_lab.arena.entry import Entry
from localarc_lab.arena.yardstick import Yardstick
from localarc_lab.compare.comparison import Comparison
from localarc_lab.compare.result import Local, Result

Table = tuple[list[str], list[list[str]]]
"""A header and rows of text."""

_SMALLER = 0.95  # of the size: what counts as smaller sets


@dataclass(frozen=True)
class Standings:
    """The results of an arena.

    Parameters
    ----------
    entries : mapping of str to Entry
        The streams that were run, by name.
    comparisons : mapping of str to Comparison
        What the methods did, by stream.
    yardsticks : mapping of str to Yardstick
        The best constant threshold in hindsight, by stream.
    left_out : mapping of str to str
        Streams, or methods on a stream, that were not run, and why.
    quick : bool, default False
        Whether streams were cut to 1,000 rounds.

    Examples
    --------
    >>> from localarc_lab import arena
    >>> found = arena.run(["auto", "aci"], ["abrupt-swap", "seasonal"], quick=True)
    >>> found.methods, found.left_out
    (['AutoLARC', 'ACI'], {})
    >>> found.summary()[0][:3]
    ['method', 'streams', 'risk']
    """

    entries: Mapping[str, Entry]
    comparisons: Mapping[str, Comparison] = field(repr=False)
    yardsticks: Mapping[str, Yardstick] = field(repr=False)
    left_out: Mapping[str, str]
    quick: bool = False

    @property
    def methods(self) -> list[str]:
        """The names of all methods, in the order in which they were given."""
        return list(dict.fromkeys(result.method for _, result in self._results()))

    @property
    def reused(self) -> int:
        """How many runs an earlier, interrupted arena had stored."""
        return sum(comparison.reused for comparison in self.comparisons.values())

    def columns(self) -> dict[str, list[Any]]:
        """Return all numbers as columns, one row per stream and method."""
        return columns_from(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return all numbers, one row per stream and method."""
        rows: list[dict[str, Any]] = []
        for stream, comparison in self.comparisons.items():
            constant = self.yardsticks[stream].values
            known = {"stream": stream} | {f"constant {name}": v for name, v in constant.items()}
            rows += [known | row for row in comparison.rows()]
        return rows

    def summary(self) -> Table:
        """Return one row per method: means over streams, with standard errors over streams.

        Risks are excesses in units of the target: 0.5 is half the target too much, 0 is not above
        it. Other measures are multiples of those of the best constant in hindsight, and their means
        are geometric.
        """
        shares = list(dict.fromkeys(p.name for _, r in self._results() for p in r.neighbourhoods))
        head = ["method", "streams", RISK.title, "worst group", *(f"worst {s}" for s in shares)]
        head += [*(measure.title for measure in MEASURES[1:]), "won/tied/lost", "us/round"]
        return head, [self._summary_of(method, shares) for method in self.methods]

    def beaten_by(self, method: str) -> Table:
        """Return where a method is beaten: one row for each stream on which it is.

        A rival is less above the target if it wins at a size of neighbourhood, at two standard
        errors, and loses at none. It is as even if it does neither.

        Parameters
        ----------
        method : str
            Title of the method.
        """
        head = ["stream", "less above the target", "as even with sets 5 % smaller, or more"]
        head += ["the smallest of these"]
        rows = []
        for stream, comparison in self.comparisons.items():
            rivals = _rivals(comparison, self.entries[stream].alpha, method)
            if rivals.better or rivals.smaller:
                rows.append([stream, *rivals.cells()])
        return head, rows

    def excess(self, method: str, stream: str, share: str) -> float:
        """Return by how much of the target a method's worst neighbourhood exceeds the target.

        Parameters
        ----------
        method, stream : str
            Title of the method, and name of the stream.
        share : str
            Size of the neighbourhood, such as "10 %".
        """
        result = self._result(stream, method)
        places = {place.name: place for place in result.neighbourhoods} if result else {}
        return _excess(places.get(share), self.entries[stream].alpha)

    def relative_size(self, method: str, stream: str) -> float:
        """Return a method's mean set size, in units of the best constant's.

        Parameters
        ----------
        method, stream : str
            Title of the method, and name of the stream.
        """
        result = self._result(stream, method)
        return result.size / self.yardsticks[stream].values["size"] if result else math.nan

    def _results(self) -> list[tuple[str, Result]]:
        return [
            (stream, result)
            for stream, comparison in self.comparisons.items()
            for result in comparison.results
        ]

    def _result(self, stream: str, method: str) -> Result | None:
        found = [r for r in self.comparisons[stream].results if r.method == method]
        return found[0] if found else None

    def _summary_of(self, method: str, shares: Sequence[str]) -> list[str]:
        mine = [(stream, result) for stream, result in self._results() if result.method == method]
        places = [[self.excess(method, stream, share) for stream, _ in mine] for share in shares]
        measured = [self._mean_of(measure, mine) for measure in MEASURES]
        won = [self.comparisons[stream].wins(r.alpha)[method] for stream, r in mine]
        return [
            method,
            str(len(mine)),
            measured[0],
            _mean([_excess(r.group, r.alpha) for _, r in mine]),
            *map(_mean, places),
            *measured[1:],
            f"{sum(w.wins for w in won)}/{sum(w.ties for w in won)}/{sum(w.losses for w in won)}",
            f"{np.median([r.microseconds for _, r in mine]):.3g}",
        ]

    def _mean_of(self, measure: Measure, results: Sequence[tuple[str, Result]]) -> str:
        """The mean over streams: of risks in targets, of all else in the best constant's."""
        name = measure.name
        if measure.unit == "loss":
            return _mean([measure.excess(r.values[name], r.alpha) for _, r in results])
        constants = [self.yardsticks[stream].values[name] for stream, _ in results]
        pairs = zip(results, constants, strict=True)
        return _geometric_mean([r.values[name] / constant for (_, r), constant in pairs])


def _excess(local: Local | None, alpha: float) -> float:
    """By how much of the target a risk exceeds it; NaN if the risk is unknown."""
    if local is None or math.isnan(local.risk):
        return math.nan
    return max(local.risk / alpha - 1.0, 0.0)


def _mean(values: Sequence[float]) -> str:
    """The mean of the known values, with the standard error over streams."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return "-"
    return plus_minus(float(np.mean(known)), _standard_error(known))


def _geometric_mean(values: Sequence[float]) -> str:
    """The geometric mean of ratios, which one stream cannot dominate, with its standard error."""
    logs = [math.log(value) for value in values if math.isfinite(value) and value > 0.0]
    if not logs:
        return "-"
    mean = math.exp(float(np.mean(logs)))
    return plus_minus(mean, mean * _standard_error(logs))


def _standard_error(values: Sequence[float]) -> float:
    if len(values) < 2:
        return math.nan
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


@dataclass(frozen=True)
class _Rivals:
    """Who is less above the target than a method, and who is as even with smaller sets."""

    better: list[str]
    smaller: dict[str, float]  # sizes, in units of the method's

    def cells(self) -> list[str]:
        smallest = min(self.smaller, key=self.smaller.__getitem__, default="")
        gap = 100.0 * (1.0 - self.smaller[smallest]) if smallest else 0.0
        less = f"{smallest}, {gap:.0f} % smaller" if smallest else "-"
        return ["; ".join(self.better) or "-", str(len(self.smaller)), less]


def _rivals(comparison: Comparison, alpha: float, method: str) -> _Rivals:
    size = {result.method: result.size for result in comparison.at(alpha)}
    found = _Rivals([], {})
    for other in size:
        if method not in size or other == method:
            continue
        duel = comparison.duel(alpha, other, method)
        if duel.wins and not duel.losses:
            found.better.append(other)
        elif not duel.wins and not duel.losses and size[other] <= _SMALLER * size[method]:
            found.smaller[other] = size[other] / size[method]
    return found
