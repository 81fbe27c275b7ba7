"""The state of keyed streams as one Parquet file: one row per key, which other tools can read."""

from __future__ import annotations

import base64
import functools
import os
from typing import Any

import numpy as np

from localarc import atomic_write, serialization
from localarc.many.columns import Columns
from localarc.many.limits import Limits
from localarc.many.panel import Panel
from localarc.many.panel import table as panel_table
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import arrow
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.bucket_bytes import check_columns
from localarc.many.rows.buffered_rows import BufferedRows
from localarc.many.rows.events import NO_TIME
from localarc.many.rows.pending_asks import PendingAsks

SKIPPED, LAST = "skipped", "last_event"
PENDING = ("pending_ids", "pending_thresholds", "pending_tickets", "pending_inputs")


def to_table(bucket: Bucket, **more: Any) -> Any:
    """A bucket as an Arrow table; its metadata has the calibrator, the columns, and `more`."""
    pa = arrow()
    columns = {SKIPPED: pa.array(bucket.skipped, pa.int64())}
    if len(bucket.pending):
        columns |= _pending_columns(bucket)
    about: dict[str, Any] = {"roles": bucket.columns.to_json(), "limits": bucket.limits.to_json()}
    if bucket.columns.time is not None:
        columns[LAST] = pa.array(bucket.last, pa.timestamp("us"), mask=bucket.last == NO_TIME)
        waiting = base64.b64encode(bucket.waiting.to_bytes()).decode()
        about |= {"watermark": bucket.watermark, "waiting": waiting}
    return panel_table.to_table(bucket.panel, columns, **about, **more)


def from_table(
    table: Any, calibrator: Prototype | None, columns: Columns | None, limits: Limits | None = None
) -> Bucket:
    """The inverse of `to_table`; raises StateError if the columns or settings differ.

    A table of a panel alone has no columns, and fits any.
    """
    about = panel_table.read_metadata(table)
    made, content = panel_table.stored_panel(table, calibrator)
    panel = Panel(made).resumed(content)
    with serialization.damaged_unless_read("the table"):
        stored = None if "roles" not in about else Columns.from_json(about["roles"])
        if stored is not None:
            check_columns(columns, stored)
        mine = columns or stored or Columns(key=("key",), order="order", score="score")
        skipped = np.zeros(len(panel), np.int64)
        if SKIPPED in table.column_names:
            skipped = np.asarray(table[SKIPPED].fill_null(0), np.int64).copy()
        pending = _pending(table, len(mine.features))
        limits = limits or Limits.from_json(about.get("limits", {}))
        bucket = Bucket(panel, mine, limits, skipped, pending)
        _read_times(bucket, table, about)
        return bucket


def seed(bucket: Bucket, table: Any) -> None:
    """Load the keys of a table into a new bucket, whose columns may have other names."""
    if not panel_table.read_metadata(table)["text keys"]:
        raise serialization.StateError(
            "the table has keys that are integers, and keys of rows are text. "
            "Put the calibrators into a panel with text keys first."
        )
    other = from_table(table, bucket.panel.prototype, None)
    if len(other.waiting):
        raise serialization.StateError(
            f"{len(other.waiting)} rows of the table wait for the watermark, and only the job that "
            "wrote it can continue them. Finish it with last=True first."
        )
    if len(other.pending) and not bucket.columns.late:
        raise serialization.StateError(
            f"{len(other.pending)} asks of the table are pending, and rows of this job have no "
            "kind= and id= to learn them."
        )
    bucket.absorb(other)


def _read_times(bucket: Bucket, table: Any, about: dict[str, Any]) -> None:
    if LAST in table.column_names:
        pa = arrow()
        times = table[LAST].cast(pa.timestamp("us")).cast(pa.int64())
        bucket.last = np.asarray(times.fill_null(NO_TIME), np.int64).copy()
        bucket.watermark = about.get("watermark")
        bucket.waiting = BufferedRows.from_bytes(base64.b64decode(about.get("waiting", "")))


def write(bucket: Bucket, path: str | os.PathLike[str], **more: Any) -> None:
    """Write a bucket to a Parquet file, atomically."""
    write_table(to_table(bucket, **more), path)


def write_table(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table to a Parquet file, atomically."""
    from pyarrow import parquet

    sink = arrow().BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    atomic_write.write(path, sink.getvalue().to_pybytes())


def read_table(path: str | os.PathLike[str]) -> Any:
    """The table in a Parquet file; raises StateError if there is none."""
    try:
        return panel_table.read_parquet(serialization.read(path))
    except serialization.StateError as error:
        raise serialization.StateError(f"{path}: {error}") from error


def concat(tables: list[Any]) -> Any:
    """The tables of several buckets as one; at least one is required."""
    found = [panel_table.read_metadata(each) for each in tables]
    known = [about["dimension"] for about in found if about["dimension"] is not None]
    columns = list(dict.fromkeys(name for about in found for name in about["columns"]))
    about = found[0] | {"dimension": known[0] if known else None, "columns": columns}
    if "waiting" in about:
        blobs = [base64.b64decode(each["waiting"]) for each in found]
        joined = functools.reduce(BufferedRows.plus, map(BufferedRows.from_bytes, blobs))
        about["waiting"] = base64.b64encode(joined.to_bytes()).decode()
    bare = [each.replace_schema_metadata(None) for each in tables]
    rows = arrow().concat_tables(bare, promote_options="default").combine_chunks()
    return panel_table.with_metadata(rows, about)


def _pending_columns(bucket: Bucket) -> dict[str, Any]:
    """The pending asks of each key, as lists."""
    pa, pending = arrow(), bucket.pending
    codes = pending.codes(bucket.panel.keys)  # type: ignore[arg-type]
    asks = pending.take(np.argsort(codes, kind="stable"))
    counts = np.bincount(codes, minlength=len(bucket.panel))

    def lists(values: Any, width: int = 1) -> Any:
        offsets = np.concatenate(([0], np.cumsum(counts * width))).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))

    width = asks.X.shape[1]
    numbers = lists(asks.thresholds), lists(asks.tickets), lists(asks.X.ravel(), width)
    return dict(zip(PENDING, (lists(asks.ids), *numbers), strict=True))


def _pending(table: Any, dimension: int) -> PendingAsks:
    if PENDING[0] not in table.column_names:
        return PendingAsks.none(dimension)
    pa = arrow()
    kinds = pa.string(), pa.float64(), pa.int64(), pa.float64()
    columns = zip(PENDING, kinds, strict=True)
    lists = [table[name].combine_chunks().cast(pa.list_(kind)) for name, kind in columns]
    counts = np.asarray(pa.compute.fill_null(lists[0].value_lengths(), 0))
    keys = table["key"].combine_chunks().take(np.repeat(np.arange(len(counts)), counts))
    ids, thresholds, tickets, inputs = (each.flatten() for each in lists)
    X = np.array(inputs).reshape(len(ids), dimension)
    return PendingAsks(keys.cast(pa.string()), ids, np.array(thresholds), np.array(tickets), X)
