"""What a comparison measures of methods on one stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localarc import measures
from localarc.running.record import Record
from localarc.streams import Stream
from localarc_lab.compare.places import worst_places
from localarc_lab.compare.result import Local, Result

MIN_GROUP = 30
"""Groups with fewer rounds are left out, unless all groups are that small."""


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
    rounds = record.rounds_of(stream.curves)
    return Result(
        method=title,
        alpha=record.alpha,
        rounds=len(record),
        values={each.name: each.of(rounds) for each in measures.MEASURES},
        group=_worst_group(record),
        neighbourhoods=places,
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
