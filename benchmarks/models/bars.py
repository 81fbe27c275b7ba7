"""The bars: what was asked of wrapped models, and whether it was met."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.models import drift, interval_rows, label_rows
from benchmarks.models.interval_rows import IntervalRow
from benchmarks.models.intervals import COVERAGE, OURS
from benchmarks.models.label_rows import LabelRow

MARGINAL = 0.02
NEARER = 0.04
LARGER = 1.05


@dataclass(frozen=True)
class Bar:
    """A claim, what was measured for it, and whether it holds."""

    claim: str
    measured: str
    met: bool


def of_intervals(rows: list[IntervalRow]) -> list[Bar]:
    """Marginal coverage, and the worst third against every peer."""
    if not rows:
        return []
    streams = interval_rows.by_stream(rows)
    largest = max((each[OURS].distance, name) for name, each in streams.items())
    marginal = Bar(
        f"marginal coverage within {MARGINAL:g} of {COVERAGE:g} on each stream",
        f"furthest {largest[0]:.4f}, {largest[1]}",
        largest[0] <= MARGINAL,
    )
    return [marginal, *(_against(name, rows) for name in interval_rows.peers(rows))]


def _against(peer: str, rows: list[IntervalRow]) -> Bar:
    theirs = [row for row in rows if row.method == peer]
    nearer = sum(row.nearer >= NEARER for row in theirs)
    outcomes = [row.outcome for row in theirs]
    counts = ", ".join(f"{outcomes.count(word)} {word}" for word in ("win", "tie", "loss"))
    possible = sum(row.worst.distance >= NEARER for row in theirs)
    return Bar(
        f"worst third at least {NEARER:g} nearer than {peer} on most of {len(theirs)} streams",
        f"on {nearer}, of {possible} where {peer} is {NEARER:g} away; {counts}",
        nearer > len(theirs) / 2,
    )


def of_labels(rows: list[LabelRow]) -> list[Bar]:
    """Coverage of every class, and the size of sets with and without drift."""
    if not rows:
        return []
    return [*_classes(rows), *_sizes_without_drift(rows), *_with_drift(rows)]


def _classes(rows: list[LabelRow]) -> list[Bar]:
    """By version, how many classes of each method are near enough to the target."""
    found = []
    for version in dict.fromkeys(row.version for row in rows):
        kept = {
            name: _kept([row for row in rows if (row.version, row.method) == (version, name)])
            for name in dict.fromkeys(row.method for row in rows)
        }
        claim = f"{version}: every class within max({label_rows.ALLOWED:g}, two standard errors)"
        measured = ", ".join(f"{name} {good} of {judged}" for name, (good, judged) in kept.items())
        good, judged = kept[OURS]
        found.append(Bar(claim, measured, good == judged))
    return found


def _kept(rows: list[LabelRow]) -> tuple[int, int]:
    """How many classes are within their allowance, of those that are judged."""
    judged = sum(len(row.classes) for row in rows)
    return judged - sum(len(row.failing) for row in rows), judged


def _sizes_without_drift(rows: list[LabelRow]) -> list[Bar]:
    ratios = {}
    for name, each in label_rows.by_stream(rows, drift.SHUFFLED).items():
        (peer,) = (row for method, row in each.items() if method != OURS)
        ratios[name] = each[OURS].size / peer.size
    if not ratios:
        return []
    largest = max(ratios, key=lambda name: ratios[name])
    return [
        Bar(
            f"shuffled, so without drift: sets at most {LARGER:g} times as large as crepes'",
            f"mean {np.mean([*ratios.values()]):.3f}, largest {ratios[largest]:.3f}, {largest}",
            ratios[largest] <= LARGER,
        )
    ]


def _with_drift(rows: list[LabelRow]) -> list[Bar]:
    found = []
    for version in (drift.LABEL_SHIFT, drift.NOISE_CHANGE):
        pairs = [[*each.values()] for each in label_rows.by_stream(rows, version).values()]
        if pairs:
            good = sum(smaller_or_better(ours, theirs) for ours, theirs in pairs)
            claim = f"{version}: sets smaller or better covered than crepes'"
            found.append(Bar(claim, f"on {good} of {len(pairs)} streams", good == len(pairs)))
    return found


def smaller_or_better(ours: LabelRow, theirs: LabelRow) -> bool:
    """Whether sets are smaller, or the worst class (else everyone) is nearer to the target."""
    if ours.worst is None or theirs.worst is None:
        better = abs(ours.coverage - COVERAGE) <= abs(theirs.coverage - COVERAGE)
    else:
        better = ours.worst.deviation <= theirs.worst.deviation
    return ours.size <= theirs.size or better
