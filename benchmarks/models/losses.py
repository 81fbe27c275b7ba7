"""Where we lose: streams on which a peer is nearer to the target, or has smaller sets."""

from __future__ import annotations

from benchmarks.models import drift, interval_rows, label_rows
from benchmarks.models.bars import LARGER, MARGINAL
from benchmarks.models.interval_rows import IntervalRow
from benchmarks.models.intervals import COVERAGE, OURS
from benchmarks.models.label_rows import LabelRow


def of_intervals(rows: list[IntervalRow]) -> list[str]:
    """Worst thirds that a peer has nearer, and narrower intervals of peers that cover enough."""
    found = []
    for name, each in interval_rows.by_stream(rows).items():
        for peer in interval_rows.peers(rows):
            theirs, ratio = each[peer], each[OURS].width / each[peer].width
            if theirs.outcome == "loss":
                found.append(f"{name}: the worst third of {peer} is {-theirs.nearer:.3f} nearer")
            if ratio > LARGER and theirs.coverage >= COVERAGE - MARGINAL:
                covers = f"coverage {theirs.coverage:.3f}, worst third {theirs.worst.coverage:.3f}"
                found.append(f"{name}: {ratio:.2f} times as wide as {peer} ({covers})")
    return found


def of_labels(rows: list[LabelRow]) -> list[str]:
    """Classes out of their allowance, and sets that are larger than crepes'."""
    found = [
        f"{row.stream}, {row.version}: class {each.label} is covered {each.coverage:.3f}"
        for row in rows
        if row.method == OURS
        for each in row.failing
    ]
    for version in drift.VERSIONS:
        for name, each in label_rows.by_stream(rows, version).items():
            ours, theirs = each.values()
            if ours.size > LARGER * theirs.size:
                missed = f"{len(theirs.failing)} of {len(theirs.classes)} classes of crepes fail"
                ratio = ours.size / theirs.size
                found.append(f"{name}, {version}: sets {ratio:.2f} times as large ({missed})")
    return found
