"""Comparison: the results of several methods, who wins at two standard errors, and a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from localarc.measures import MEASURES, RISK, SIZE
from localarc.measures.text import mean_size, plus_minus
from localarc.running.record import Record
from localarc.tables.from_rows import columns_from
from localarc.tables.to_pandas import pandas_frame
from localarc_lab.compare.result import Local, Result

if TYPE_CHECKING:
    import pandas

_OTHERS = MEASURES[1:]  # beside the risk
_CHANCE = 2.0  # standard errors of a difference that chance explains


@dataclass(frozen=True)
class Comparison:
    """Methods on the same rounds; `localarc_lab.compare.compare` returns one.

    Parameters
    ----------
    stream : str
        Name of the stream.
    results : tuple of Result
        One for each target and method.
    records : mapping of (float, str) to Record
        The record of each target and method.
    reused : int, default 0
        How many runs an earlier, interrupted comparison had stored.

    Examples
    --------
    >>> from localarc_lab.compare import compare
    >>> from localarc.streams import heteroscedastic
    >>> found = compare(["auto", "aci"], heteroscedastic(400, seed=0))
    >>> [result.method for result in found.results]
    ['AutoLARC', 'ACI']
    >>> found.wins(0.1)["ACI"].total
    1
    """

    stream: str
    results: tuple[Result, ...]
    records: Mapping[tuple[float, str], Record] = field(repr=False)
    reused: int = 0

    def at(self, alpha: float) -> list[Result]:
        """Return the results for one target.

        Parameters
        ----------
        alpha : float
            The target.
        """
        found = [result for result in self.results if result.alpha == alpha]
        if not found:
            raise ValueError(
                f"there is no result for the target {alpha}; there are {self.targets}."
            )
        return found

    @property
    def targets(self) -> list[float]:
        """The targets, in the order in which they were given."""
        return list(dict.fromkeys(result.alpha for result in self.results))

    def wins(self, alpha: float) -> dict[str, Score]:
        """Return wins, ties and losses of each method against every other.

        Two methods are compared by how far their worst neighbourhood of each size is above the
        target; without features, by their worst group; without groups, by nothing. A difference
        of less than two standard errors is a tie.

        Parameters
        ----------
        alpha : float
            The target.
        """
        results = self.at(alpha)
        return {
            mine.method: _score(mine, [r for r in results if r is not mine]) for mine in results
        }

    def duel(self, alpha: float, one: str, two: str) -> Score:
        """Return wins, ties and losses of one method against another.

        Parameters
        ----------
        alpha : float
            The target.
        one, two : str
            Titles of the methods.
        """
        results = {result.method: result for result in self.at(alpha)}
        return _score(results[one], [results[two]])

    def columns(self) -> dict[str, list[Any]]:
        """Return all numbers as columns, one row per target and method."""
        return columns_from(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return all numbers, one row per target and method."""
        return [self._row(result) for result in self.results]

    def _row(self, result: Result) -> dict[str, Any]:
        won = self.wins(result.alpha)[result.method]
        row: dict[str, Any] = {
            "method": result.method,
            "target": result.alpha,
            "rounds": result.rounds,
            "risk": result.risk,
            "distance": result.distance,
        }
        if result.group is not None:
            row |= {"worst group": result.group.name} | _numbers("group", result.group)
        for place in result.neighbourhoods:
            row |= _numbers(f"neighbourhood {place.name}", place)
        row |= {measure.name: result.values[measure.name] for measure in _OTHERS}
        row |= {"wins": won.wins, "ties": won.ties, "losses": won.losses}
        return row | {"microseconds": result.microseconds}

    def to_pandas(self) -> pandas.DataFrame:
        """Return all numbers as a pandas DataFrame, one row per target and method."""
        return pandas_frame(self.columns())

    def table(self, alpha: float) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of a table for one target.

        Parameters
        ----------
        alpha : float
            The target.
        """
        results, wins = self.at(alpha), self.wins(alpha)
        head = ["method", RISK.title, "|risk - target|"]
        head += ["worst group"] if results[0].group is not None else []
        head += [f"worst {place.name}" for place in results[0].neighbourhoods]
        head += [*(measure.title for measure in _OTHERS), "won/tied/lost", "us/round"]
        return head, [_cells(result, wins[result.method]) for result in results]

    def __str__(self) -> str:
        return "\n\n".join(_text(*self.table(alpha)) for alpha in self.targets)


@dataclass(frozen=True)
class Score:
    """Wins, ties and losses."""

    wins: int
    ties: int
    losses: int

    @property
    def total(self) -> int:
        """The number of comparisons."""
        return self.wins + self.ties + self.losses


def _numbers(name: str, local: Local) -> dict[str, float]:
    return {f"{name} risk": local.risk, f"{name} error": local.standard_error}


def _cells(result: Result, won: Score) -> list[str]:
    cells = [result.method, RISK.text(result.risk), RISK.text(result.distance)]
    if result.group is not None:
        cells.append(f"{result.group.name}: {_risk(result.group)}")
    cells += [_risk(place) for place in result.neighbourhoods]
    texts = {each.name: each.text(result.values[each.name]) for each in _OTHERS}
    texts[SIZE.name] = mean_size(result.size, result.unbounded)
    cells += texts.values()
    played = f"{won.wins}/{won.ties}/{won.losses}" if won.total else "-"
    return [*cells, played, f"{result.microseconds:.3g}"]


def _risk(local: Local) -> str:
    known = math.isfinite(local.risk)
    return plus_minus(local.risk, local.standard_error) if known else "too few rounds"


def _score(mine: Result, others: Sequence[Result]) -> Score:
    signs = [
        _sign(one, two, mine.alpha)
        for other in others
        for one, two in zip(_judged(mine), _judged(other), strict=True)
    ]
    return Score(signs.count(1), signs.count(0), signs.count(-1))


def _judged(result: Result) -> tuple[Local, ...]:
    """What methods are compared by."""
    known = tuple(place for place in result.neighbourhoods if math.isfinite(place.risk))
    if known or result.group is None:
        return known
    return (result.group,)


def _sign(one: Local, two: Local, alpha: float) -> int:
    """1 if the first is nearer to the target from above, by more than chance explains."""
    gap = max(two.risk - alpha, 0.0) - max(one.risk - alpha, 0.0)
    chance = _CHANCE * math.hypot(one.standard_error, two.standard_error)
    if math.isnan(chance) or abs(gap) <= chance:  # an unknown error decides nothing
        return 0
    return int(math.copysign(1.0, gap))


def _text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text, with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}" for i, (cell, w) in line)
        for line in (enumerate(zip(row, widths, strict=True)) for row in (head, *rows))
    ]
    return "\n".join(lines)
