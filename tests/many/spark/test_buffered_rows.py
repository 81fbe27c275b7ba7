"""Rows that wait for the watermark move between jobs on Spark and jobs without: no Java needed."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow
import pytest

from localarc import ARC
from localarc.many import Columns, KeyedStreams, Limits
from localarc.many.panel.table import METADATA
from localarc.many.rows import bucket_table as table
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.buffered_rows import BufferedRows
from localarc.many.spark.buffered_rows import pack_waiting, unpack_waiting
from localarc.many.spark.packed_columns import NULLS, PackedColumns, alias
from localarc.many.spark.processor import seed
from localarc.serialization import StateError
from many.keyed_events import late

COLUMNS = Columns(key="who", score="s", time="at")
TYPES = {
    "who": "string",
    "at": "timestamp",
    "s": "double",
    "n": "smallint",
    "flag": "boolean",
    "day": "date",
    "f": "float",
    "tags": "array<bigint>",
}
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [
    {"who": "a", "at": NOON, "s": 0.5, "n": 1, "flag": True, "day": date(2026, 1, 1), "f": 0.5,
     "tags": [1]},
    {"who": "b", "at": NOON, "s": None, "n": None, "flag": None, "day": None, "f": None,
     "tags": None},
    {"who": "c", "at": None, "s": float("nan"), "n": 0, "flag": False, "day": date(1970, 1, 1),
     "f": 0.0, "tags": []},
]  # fmt: skip


def waiting(rows: list[dict[str, Any]], mine: Columns = COLUMNS) -> Bucket:
    bucket = Bucket.new(ARC(0.1), mine)
    plain = pyarrow.Table.from_pylist(rows)
    keys = plain[mine.keys[0]].combine_chunks()
    bucket.waiting = BufferedRows(plain, keys, [0] * len(rows))  # type: ignore[arg-type]
    return bucket


def packed_columns(*names: str) -> PackedColumns:
    return PackedColumns(names, tuple(TYPES[name] for name in names))


def test_rows_of_every_type_come_back_from_the_form_in_which_they_travel() -> None:
    bucket = waiting(ROWS)
    plain = bucket.waiting.rows.to_pylist()
    pack_waiting(bucket, packed_columns(*TYPES), COLUMNS)
    packed = bucket.waiting.rows
    assert packed[alias(2)].null_count == 0
    assert packed[NULLS].to_pylist() == [0, 0b1111100, 0b10]
    unpack_waiting(bucket)
    assert str(bucket.waiting.rows.to_pylist()) == str(plain)  # NaN is not NaN


def test_a_stream_with_other_columns_in_another_order_continues_them() -> None:
    bucket = waiting(ROWS[:1])
    pack_waiting(bucket, packed_columns("who", "at", "s", "n", "f"), COLUMNS)
    pack_waiting(bucket, packed_columns("f", "s", "day", "who", "at"), COLUMNS)
    unpack_waiting(bucket)
    (row,) = bucket.waiting.rows.to_pylist()
    assert row == {"f": 0.5, "s": 0.5, "day": None, "who": "a", "at": NOON}


def test_columns_that_are_read_get_the_names_of_the_stream() -> None:
    saved = replace(COLUMNS, key=("customer",), score="residual")
    bucket = waiting([{"customer": "a", "at": NOON, "residual": 2}], saved)
    pack_waiting(bucket, packed_columns("who", "at", "s"), COLUMNS)
    unpack_waiting(bucket)
    assert bucket.waiting.rows.to_pylist() == [{"who": "a", "at": NOON, "s": 2.0}]


def test_other_meanings_and_columns_of_another_type_are_refused() -> None:
    bucket = waiting(ROWS[:1])
    with pytest.raises(StateError, match=r"1 rows .* time='at', now they are .* id='n'"):
        pack_waiting(bucket, packed_columns("who", "at", "s", "n"), replace(COLUMNS, id="n"))
    bucket = waiting([{"who": "a", "at": NOON, "s": 0.5, "n": "text"}])
    with pytest.raises(StateError, match="column 'n' is string, and the stream's is smallint"):
        pack_waiting(bucket, packed_columns("who", "at", "s", "n"), COLUMNS)


def test_rows_that_an_earlier_release_saved_require_the_same_columns() -> None:
    bucket = waiting([{"who": "a", alias(0): "a", alias(1): 0, NULLS: 0}])
    bucket.waiting = replace(bucket.waiting, rows=bucket.waiting.rows.drop_columns("who"))
    before = bucket.waiting.rows
    pack_waiting(bucket, packed_columns("who", "at"), COLUMNS)
    assert bucket.waiting.rows is before
    with pytest.raises(StateError, match="An earlier release saved them"):
        pack_waiting(bucket, packed_columns("who", "at", "s"), COLUMNS)


def test_rows_that_wait_in_one_process_are_seeded_into_a_stream_and_not_into_a_batch() -> None:
    streams = KeyedStreams(
        Columns(key="key", time="when", score="score"),
        ARC(0.1),
        limits=Limits(delay=timedelta(days=9)),
    )
    streams.calibrate(late(rows=5).dropna(subset="score"))
    streams._bucket.skip(dict.fromkeys(streams._bucket.waiting.keys.to_pylist(), 0))
    saved = table.to_table(streams._bucket)
    metadata = saved.schema.metadata[METADATA].decode()
    bucket = Bucket.new(ARC(0.1), streams._bucket.columns)
    with pytest.raises(StateError, match=r"5 rows .* a batch frame has no watermark"):
        seed(bucket, saved, metadata)
    types = ("string", "timestamp", "double")
    seed(bucket, saved, metadata, PackedColumns(("key", "when", "score"), types))
    assert len(bucket.waiting) == 5
    unpack_waiting(bucket)
    assert bucket.waiting.rows["score"].to_pylist() == (
        streams._bucket.waiting.rows["score"].to_pylist()
    )
