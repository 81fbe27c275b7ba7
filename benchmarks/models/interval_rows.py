"""Regression: one row per stream and method, with how much nearer to the target we are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.models.intervals import COVERAGE, METHODS, OURS, Intervals
from benchmarks.models.streams import Case
from benchmarks.models.worst_third import Worst, thirds, worst
from localarc.validation import FloatArray

ERRORS = 2.0  # standard errors that make a difference


@dataclass(frozen=True)
class IntervalRow:
    """What one method achieved on one stream."""

    stream: str
    method: str
    rounds: int
    coverage: float
    worst: Worst
    width: float  # mean of the finite ones
    infinite: float  # share of rounds
    nearer: float  # by how much our worst third is nearer to the target
    error: float  # standard error of `nearer`

    @property
    def distance(self) -> float:
        """Of the marginal coverage from the target."""
        return abs(self.coverage - COVERAGE)

    @property
    def outcome(self) -> str:
        """Ours against this method's worst third, beyond two standard errors."""
        if abs(self.nearer) <= ERRORS * self.error:
            return "tie"
        return "win" if self.nearer > 0.0 else "loss"


def compare(case: Case) -> list[IntervalRow]:
    """All methods on one stream; ours is the first."""
    found = {name: method(case) for name, method in METHODS.items()}
    y = case.stream(case.y)
    covered = np.array([intervals.cover(y) for intervals in found.values()])
    parts = thirds(case.stream(case.local), case.names)
    at_worst, errors = worst(covered, parts, COVERAGE)
    return [
        _row(case, name, intervals, covered[m], at_worst[m], at_worst[0], float(errors[m]))
        for m, (name, intervals) in enumerate(found.items())
    ]


def _row(
    case: Case,
    method: str,
    intervals: Intervals,
    covered: FloatArray,
    own: Worst,
    ours: Worst,
    error: float,
) -> IntervalRow:
    finite = np.isfinite(intervals.widths)
    return IntervalRow(
        case.name,
        method,
        len(case),
        float(covered.mean()),
        own,
        float(intervals.widths[finite].mean()),
        float(1.0 - finite.mean()),
        own.distance - ours.distance,
        error,
    )


def by_stream(rows: list[IntervalRow]) -> dict[str, dict[str, IntervalRow]]:
    """Rows by stream, then by method."""
    found: dict[str, dict[str, IntervalRow]] = {}
    for row in rows:
        found.setdefault(row.stream, {})[row.method] = row
    return found


def peers(rows: list[IntervalRow]) -> list[str]:
    """The methods that are not ours."""
    return [name for name in dict.fromkeys(row.method for row in rows) if OURS not in name]
