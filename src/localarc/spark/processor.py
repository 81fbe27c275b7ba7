"""The stateful processor that Spark calls for each bucket with rows in a micro-batch."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from localarc import serialization
from localarc.keyed import stored, table
from localarc.keyed.bucket import Bucket
from localarc.keyed.roles import Roles
from localarc.panel import Panel
from localarc.panel.streams import Prototype
from localarc.panel.table import METADATA
from localarc.spark.passing import PassingColumns

STATE = "bucket"
"""The name of the state variable: one value for each bucket."""

SCHEMA = "panel binary, skipped string, buckets int"
"""Bytes of the bucket; `skipped` is empty, and a dict in JSON in states of the first version."""

Stored: TypeAlias = tuple[bytes, str, int]


@dataclass(frozen=True)
class Job:
    """The settings of a job, which are sent to the workers."""

    calibrator: Prototype
    buckets: int
    roles: Roles
    columns: PassingColumns
    rejects: bool
    saved: str = ""

    def read(self, row: Stored) -> Bucket:
        """The stored bucket; raises StateError if it was stored with other settings."""
        if row[2] != self.buckets:
            raise serialization.StateError(
                f"the checkpoint was written with buckets={row[2]}, now it is {self.buckets}: keys "
                "would move. Keep the number, or migrate with export_state and import_state."
            )
        return read_bucket(row, self.calibrator, self.roles)


class BucketProcessor:
    """Sort, validate and learn the rows of a bucket, and store the bucket once per batch.

    It implements PySpark's StatefulProcessor.
    """

    def __init__(self, job: Job) -> None:
        self.job = job

    def init(self, handle: Any) -> None:
        """Open the state variable."""
        self._state = handle.getValueState(STATE, SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Any]:  # noqa: N802
        """All rows of one bucket in this micro-batch."""
        frame, bucket = _joined(list(rows)), self._bucket()
        added = bucket.calibrate(self._table(frame), self.job.rejects)
        self._store(bucket)
        for name, values in added.arrays(self.job.rejects).items():
            frame[name] = values
        yield frame

    def handleInitialState(self, key: Any, initial: Any, timers: Any) -> None:  # noqa: N802
        """Load saved calibrators, before the first batch."""
        import pyarrow

        bucket = self._bucket()
        rows = pyarrow.Table.from_pandas(initial, preserve_index=False)
        seed(bucket, rows, self.job.saved)
        self._store(bucket)

    def handleExpiredTimer(self, key: Any, timers: Any, expired: Any) -> Iterator[Any]:  # noqa: N802
        """Timers are not used."""
        return iter(())

    def close(self) -> None:
        """Nothing to close."""

    def _bucket(self) -> Bucket:
        if not self._state.exists():
            return Bucket.new(self.job.calibrator, self.job.roles)
        return self.job.read(self._state.get())

    def _store(self, bucket: Bucket) -> None:
        self._state.update((stored.encode(bucket), "", self.job.buckets))

    def _table(self, rows: Any) -> Any:
        import pyarrow

        columns = {name: self.job.columns.column(rows, name) for name in self.job.roles.columns}
        return pyarrow.table(columns)


def read_bucket(row: Stored, calibrator: Prototype | None, roles: Roles | None) -> Bucket:
    """The bucket in a row of state, of this version or the first."""
    data, skipped, _ = row
    if not skipped:
        return stored.decode(bytes(data), calibrator, roles)
    panel = Panel.from_state(bytes(data), calibrator)
    unknown = roles or Roles(key=("key",), order="order", score="score")
    return stored.from_panel(panel, unknown, json.loads(skipped))


def seed(bucket: Bucket, saved: Any, metadata: str) -> None:
    """Load saved calibrators, an Arrow table from `import_state`, into a bucket."""
    if metadata:
        made = saved.replace_schema_metadata({METADATA: metadata.encode()})
        bucket.absorb(table.from_table(made, bucket.panel.prototype, None))
        return
    keys = saved["key"].to_pylist()
    for name, data in zip(keys, saved["state"].to_pylist(), strict=True):
        fresh = copy.copy(bucket.panel.prototype)
        bucket.panel.put(name, fresh.restore(data))
    bucket.skip(dict(zip(keys, saved["skipped"].to_pylist(), strict=True)))


def _joined(parts: list[Any]) -> Any:
    """All rows of a bucket. Text in several chunks, as pandas 3 joins it, PySpark cannot send."""
    import pandas

    if len(parts) == 1:
        return parts[0]
    joined = pandas.concat(parts, ignore_index=True)
    text = [name for name, kind in joined.dtypes.items() if isinstance(kind, pandas.StringDtype)]
    return joined.astype(dict.fromkeys(text, object))
