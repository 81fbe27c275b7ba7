"""Classification: coverage of every class that is frequent enough, and the size of sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.models.intervals import COVERAGE
from benchmarks.models.label_sets import METHODS, Sets
from benchmarks.models.streams import Case

ENOUGH = 200  # rounds of a class that is judged
ALLOWED = 0.02


@dataclass(frozen=True)
class ClassCoverage:
    """How often the rounds of one class are covered."""

    label: str
    rounds: int
    coverage: float

    @property
    def error(self) -> float:
        """Standard error of a coverage that meets the target."""
        return float(np.sqrt(COVERAGE * (1.0 - COVERAGE) / self.rounds))

    @property
    def deviation(self) -> float:
        """Distance from the target, in allowances of max(0.02, two standard errors)."""
        return abs(self.coverage - COVERAGE) / max(ALLOWED, 2.0 * self.error)


@dataclass(frozen=True)
class LabelRow:
    """What one method achieved on one version of a stream."""

    stream: str
    version: str
    method: str
    rounds: int
    coverage: float
    classes: tuple[ClassCoverage, ...]  # those with enough rounds
    size: float

    @property
    def failing(self) -> tuple[ClassCoverage, ...]:
        """Classes further from the target than their allowance."""
        return tuple(each for each in self.classes if each.deviation > 1.0)

    @property
    def worst(self) -> ClassCoverage | None:
        """The class furthest from the target, in allowances; None if no class is judged."""
        return max(self.classes, key=lambda each: each.deviation, default=None)


def compare(case: Case, stream: str, version: str) -> list[LabelRow]:
    """All methods on one version of a stream; ours is the first."""
    return [_row(case, stream, version, name, make(case)) for name, make in METHODS.items()]


def _row(case: Case, stream: str, version: str, method: str, sets: Sets) -> LabelRow:
    assert case.classes is not None
    truth = np.searchsorted(case.classes, case.stream(case.y))
    covered = sets[np.arange(len(truth)), truth]
    classes = tuple(
        ClassCoverage(str(label), int(np.sum(truth == k)), float(covered[truth == k].mean()))
        for k, label in enumerate(case.classes)
        if np.sum(truth == k) >= ENOUGH
    )
    size = float(sets.sum(axis=1).mean())
    return LabelRow(stream, version, method, len(case), float(covered.mean()), classes, size)


def by_stream(rows: list[LabelRow], version: str) -> dict[str, dict[str, LabelRow]]:
    """Rows of one version, by stream, then by method."""
    found: dict[str, dict[str, LabelRow]] = {}
    for row in rows:
        if row.version == version:
            found.setdefault(row.stream, {})[row.method] = row
    return found
