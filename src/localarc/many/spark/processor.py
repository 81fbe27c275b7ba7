"""The stateful processor that Spark calls for each bucket with rows in a micro-batch."""

from __future__ import annotations

import copy
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from localarc import serialization
from localarc.many.columns import Columns
from localarc.many.limits import Limits
from localarc.many.panel import Panel
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import METADATA
from localarc.many.rows import bucket_bytes as stored
from localarc.many.rows import bucket_table as table
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.results import Results
from localarc.many.rows.watermark import exchange
from localarc.many.spark.bucket_cache import CACHE
from localarc.many.spark.buffered_rows import labelled, pack_waiting
from localarc.many.spark.packed_columns import PackedColumns

STATE = "bucket"
"""The name of the state variable: one value for each bucket."""

SCHEMA = "panel binary, skipped string, buckets int"
"""Bytes of the bucket; `skipped` is empty, and a dict in JSON in states of the first version."""

Stored: TypeAlias = tuple[bytes, str, int]


@dataclass(frozen=True)
class Job:
    """The settings of a job, which are sent to the workers."""

    columns: Columns
    calibrator: Prototype
    buckets: int
    packed: PackedColumns
    rejects: bool
    saved: str = ""
    limits: Limits | None = None
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def read(self, row: Stored, earlier: Bucket | None = None) -> Bucket:
        """The stored bucket; raises StateError if it was stored with other settings.

        An `earlier` one, which is not used any more, saves time if its keys are the same.
        """
        if row[2] != self.buckets:
            raise serialization.StateError(
                f"the checkpoint was written with buckets={row[2]}, now it is {self.buckets}: keys "
                "would move. Keep the number, or migrate with export_state and import_state."
            )
        bucket = read_bucket(row, self.calibrator, self.columns, self.limits, earlier)
        pack_waiting(bucket, self.packed, self.columns)
        return bucket


class BucketProcessor:
    """Sort, validate and learn the rows of a bucket, and store the bucket once per batch.

    It implements PySpark's StatefulProcessor.
    """

    def __init__(self, job: Job) -> None:
        self.job = job

    def init(self, handle: Any) -> None:
        """Open the state variable."""
        self._handle = handle
        self._state = handle.getValueState(STATE, SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Any]:  # noqa: N802
        """All rows of one bucket in this micro-batch."""
        frame, bucket, job = _joined(list(rows)), self._bucket(key), self.job
        if job.columns.time is not None:
            yield from self._exchange(key, bucket, labelled(_arrow(frame), job.packed), timers)
            return
        columns = dict(frame.items())
        results = bucket.calibrate(job.packed.table(columns, job.columns.names), job.rejects)
        self._store(key, bucket)
        yield _frame(columns, results, job.rejects)

    def _exchange(self, key: Any, bucket: Bucket, rows: Any, timers: Any) -> Iterator[Any]:
        """By time: rows that the watermark has passed leave, and new ones wait."""
        passed = timers.getCurrentWatermarkInMs() * 1000 or None
        ready, results = exchange(
            bucket, rows, self.job.rejects, late_until=passed, passed=passed, view=self._view
        )
        self._store(key, bucket)
        self._wake(bucket)
        if ready.num_rows:
            columns = dict(ready.combine_chunks().to_pandas().items())
            yield _frame(columns, results, self.job.rejects)

    def _wake(self, bucket: Bucket) -> None:
        """Be called when the watermark passes the first row that waits, or ends a key."""
        next_times = [] if bucket.waiting.earliest is None else [bucket.waiting.earliest]
        if (end := bucket.next_expiry) is not None:
            next_times.append(end)
        if next_times:
            self._handle.registerTimer(-(-min(next_times) // 1000))

    def handleInitialState(self, key: Any, initial: Any, timers: Any) -> None:  # noqa: N802
        """Load saved calibrators, before the first batch."""
        import pyarrow

        bucket = self._bucket(key)
        rows = pyarrow.Table.from_pandas(initial, preserve_index=False)
        seed(bucket, rows, self.job.saved, self.job.packed)
        self._store(key, bucket)
        if self.job.columns.time is not None:
            self._wake(bucket)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,
        expiredTimerInfo: Any,
    ) -> Iterator[Any]:
        """By time: the watermark has passed rows of this bucket, or the end of a key."""
        bucket = self._bucket(key)
        if bucket.waiting.rows is not None:
            yield from self._exchange(key, bucket, bucket.waiting.rows.slice(0, 0), timerValues)
        else:
            bucket.expire(timerValues.getCurrentWatermarkInMs() * 1000)
            self._store(key, bucket)
            self._wake(bucket)

    def close(self) -> None:
        """Nothing to close."""

    def _bucket(self, key: Any) -> Bucket:
        row = self._state.get()
        if row is None:
            return Bucket.new(self.job.calibrator, self.job.columns, self.job.limits)
        recent = CACHE.take(self.job.token, key)
        if recent is None:
            return self.job.read(row)
        return recent.bucket if recent.is_stored_as(row[0]) else self.job.read(row, recent.bucket)

    def _store(self, key: Any, bucket: Bucket) -> None:
        data = stored.encode(bucket)
        self._state.update((data, "", self.job.buckets))
        CACHE.put(self.job.token, key, data, bucket)

    def _view(self, rows: Any) -> Any:
        import pyarrow

        packed, names = self.job.packed, self.job.columns.names
        return pyarrow.table({name: packed.arrow_column(rows, name) for name in names})


def read_bucket(
    row: Stored,
    calibrator: Prototype | None,
    columns: Columns | None,
    limits: Limits | None = None,
    earlier: Bucket | None = None,
) -> Bucket:
    """The bucket in a row of state, of this version or the first."""
    data, skipped, _ = row
    if not skipped:
        return stored.decode(bytes(data), calibrator, columns, limits, earlier)
    panel = Panel.from_state(bytes(data), calibrator)
    unknown = columns or Columns(key=("key",), order="order", score="score")
    return stored.from_panel(panel, unknown, json.loads(skipped))


def seed(bucket: Bucket, saved: Any, metadata: str, packed: PackedColumns | None = None) -> None:
    """Load saved calibrators, an Arrow table from `import_state`, into a bucket.

    Rows that wait for the watermark are continued by a stream, which has `packed` columns.
    """
    if metadata:
        made = saved.replace_schema_metadata({METADATA: metadata.encode()})
        other = table.from_table(made, bucket.panel.prototype, None)
        other.keep_waiting(saved["key"])
        if len(other.waiting) and packed is None:
            raise serialization.StateError(
                f"{len(other.waiting)} rows of the saved state wait for the watermark. Only a "
                "stream can continue them: a batch frame has no watermark."
            )
        if packed is not None:
            pack_waiting(other, packed, bucket.columns)
        bucket.absorb(other)
        return
    keys = saved["key"].to_pylist()
    for name, data in zip(keys, saved["state"].to_pylist(), strict=True):
        fresh = copy.copy(bucket.panel.prototype)
        bucket.panel.put(name, fresh.restore(data))
    bucket.skip(dict(zip(keys, saved["skipped"].to_pylist(), strict=True)))


def _frame(columns: dict[str, Any], results: Results, rejects: bool) -> Any:
    """The columns of rows as they came, and the added ones, none of them copied."""
    import pandas

    index = next(iter(columns.values())).index
    return pandas.DataFrame(columns | results.arrays(rejects), index, copy=False)


def _arrow(frame: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


def _joined(parts: list[Any]) -> Any:
    """All rows of a bucket. Text in several chunks, as pandas 3 joins it, PySpark cannot send."""
    import pandas

    if len(parts) == 1:
        return parts[0]
    joined = pandas.concat(parts, ignore_index=True)
    text = [name for name, kind in joined.dtypes.items() if isinstance(kind, pandas.StringDtype)]
    return joined.astype(dict.fromkeys(text, object))
