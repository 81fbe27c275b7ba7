"""What a comparison measures of methods on one stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localarc import measures
from localarc.running.record import Record
from localarc.streams import Stream
from localarc.validation import FloatArray
from localarc_lab.compare.places import worst_places
from localarc_lab.compare.result import Local, Result

MIN_GROUP = 30
"""Groups with fewer rounds are left out, unless all groups are that small."""

PARTS = 20
"""Number of parts of the stream, the worst of which is reported."""


def measure(
    titles: Sequence[str], records: Sequence[Record], seconds: Sequence[float], stream: Stream
) -> tuple[Result, ...]:
    """Return what the records of all methods say."""
    places = worst_places(stream, np.column_stack([record.losses for record in records]))
    rows = zip(titles, records, seconds, places, strict=True)
    return tuple(_result(*row, stream) for row in rows)


def _result(
    title: str, record: Record, seconds: float, places: tuple[Local, ...], stream: Stream
) -> Result:
    scores = stream.curves.min_thresholds(record.alpha)
    level = record.alpha / stream.curves.bound
    return Result(
        method=title,
        alpha=record.alpha,
        rounds=len(record),
        risk=record.risk,
        group=_worst_group(record),
        neighbourhoods=places,
        size=record.mean_size,
        pinball=measures.pinball_loss(scores, record.thresholds, level),
        twentieth=worst_part(record.losses, PARTS),
        microseconds=1e6 * seconds / len(record),
        unbounded=record.unbounded,
    )


def _worst_group(record: Record) -> Local | None:
    if record.groups is None:
        return None
    rows = measures.group_risk(record.losses, record.groups)
    large = [row for row in rows if row.count >= MIN_GROUP] or rows
    worst = max(large, key=lambda row: row.risk)
    return Local(str(worst.group), worst.risk, worst.standard_error, float(worst.count))


def worst_part(losses: FloatArray, parts: int) -> float:
    """Return the highest mean loss among so many consecutive parts of equal length.

    >>> worst_part(np.array([0.0, 0.0, 1.0, 0.0]), parts=2)
    0.5
    """
    pieces = np.array_split(losses, min(parts, len(losses)))
    return max(float(piece.mean()) for piece in pieces)
