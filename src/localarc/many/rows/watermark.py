"""Rows by event time: they wait until the watermark has passed them, and are learned in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from localarc.many.columns import Columns
from localarc.many.frames import with_columns
from localarc.many.panel.table import arrow
from localarc.many.rows.arrow_columns import key_texts, read_rows, read_times
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.buffered_rows import BufferedRows, concat
from localarc.many.rows.events import NO_TIME
from localarc.many.rows.results import Results

View = Callable[[Any], Any]
"""From a table to one with the columns that are read."""


def newest(table: Any, columns: Columns) -> int | None:
    """The latest time of a table, in microseconds; None if it has none, or rows have no times."""
    if columns.time is None:
        return None
    latest = int(read_times(table, columns.time).max(initial=NO_TIME))
    return None if latest == NO_TIME else latest


def arrive(
    bucket: Bucket, table: Any, rejects: bool, *, latest: int | None = None, last: bool = False
) -> Any:
    """The rows that go out now, of this table and of earlier ones, with the added columns.

    The watermark is the latest time so far, of all buckets if `latest` is given, less the delay.
    Of the `last` rows, none waits.
    """
    if latest is None:
        latest = newest(table, bucket.columns)
    before, after = bucket.watermark, _advanced(bucket, latest, last)
    ready, results = exchange(bucket, table, rejects, late_until=before, passed=after)
    bucket.watermark = after
    return with_columns(ready, results.table(rejects))


def exchange(
    bucket: Bucket,
    table: Any,
    rejects: bool,
    *,
    late_until: int | None,
    passed: int | None,
    view: View = lambda table: table,
) -> tuple[Any, Results]:
    """The rows that go out now, of this table and of earlier ones, and the columns to add to them.

    Rows up to `late_until` came too late. `passed` is the current watermark: rows up to it are
    learned, by time and id, and later ones wait. If a row is bad, nothing changes.
    """
    mine, columns = view(table), bucket.columns
    read_rows(mine.slice(0, 0), columns)  # raises at once if a column has the wrong type
    times, keys = read_times(mine, str(columns.time)), key_texts(mine, columns.keys)
    late = times <= (NO_TIME if late_until is None else late_until)  # or without a time
    go = late | np.asarray(keys.is_null()) | (times <= (NO_TIME if passed is None else passed))
    due = bucket.waiting.until(passed)
    ready = table.filter(arrow().array(go))
    if due.any():
        ready = concat([bucket.waiting.rows.filter(arrow().array(due)), ready])
    is_late = np.concatenate([np.zeros(int(due.sum()), bool), late[go]])
    rows = replace(read_rows(view(ready), columns), late=is_late)
    waiting = bucket.waiting.filter(~due).plus(BufferedRows(table, keys, times).filter(~go))
    results = bucket.learn(rows, rejects)
    bucket.waiting = waiting
    if passed is not None:
        bucket.expire(passed)
    return ready, results


def _advanced(bucket: Bucket, latest: int | None, last: bool) -> int | None:
    """The watermark after rows up to this time."""
    found = [] if bucket.watermark is None else [bucket.watermark]
    if latest is not None:
        found.append(latest if last else bucket.limits.watermark(latest))
    if last and bucket.waiting.times is not None:
        found.append(int(bucket.waiting.times.max()))
    return max(found) if found else None
