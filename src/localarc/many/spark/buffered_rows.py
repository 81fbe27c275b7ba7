"""Rows that wait for the watermark, between the form in which they travel and plain columns.

A state store has them as they travel, with a label that says which columns those were. In a file
they have plain columns, which any job can continue: one on Spark with other columns, or one without
Spark.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from localarc.many.columns import Columns
from localarc.many.rows.bucket import Bucket
from localarc.many.spark.packed_columns import BUCKET, NULLS, PackedColumns, alias
from localarc.serialization import StateError

_LABEL = b"localarc columns"
_ARROW_TYPES = {"boolean": "bool", "float": "float", "double": "double", "date": "date32[day]"}


def labelled(rows: Any, packed: PackedColumns) -> Any:
    """Packed rows, with the columns that they were."""
    return rows.replace_schema_metadata({_LABEL: _label(packed)})


def unpack_waiting(bucket: Bucket) -> None:
    """Give the waiting rows of a bucket plain columns; an earlier release did not label them."""
    rows = bucket.waiting.rows
    if rows is not None and _LABEL in (rows.schema.metadata or {}):
        bucket.waiting = replace(bucket.waiting, rows=_unpacked(rows))


def pack_waiting(bucket: Bucket, packed: PackedColumns, columns: Columns) -> None:
    """Give the waiting rows of a bucket the form in which a stream's columns travel.

    Their columns that are read get the names that these have in the stream.
    """
    rows = bucket.waiting.rows
    if rows is None or (rows.schema.metadata or {}).get(_LABEL) == _label(packed):
        return
    unpack_waiting(bucket)
    rows = bucket.waiting.rows
    if alias(0) not in rows.column_names:
        rows = labelled(_packed(_renamed(rows, bucket.columns, columns), packed), packed)
    elif {BUCKET, *rows.column_names} != {BUCKET, NULLS, *map(alias, range(len(packed.names)))}:
        raise StateError(
            f"{len(bucket.waiting)} rows of the saved state wait for the watermark. An earlier "
            "release saved them, and only a stream with the same columns can continue them."
        )
    bucket.waiting = replace(bucket.waiting, rows=rows)


def _label(packed: PackedColumns) -> bytes:
    return json.dumps([packed.names, packed.types]).encode()


def _unpacked(rows: Any) -> Any:
    import pyarrow

    names, types = json.loads(rows.schema.metadata[_LABEL])
    packed = PackedColumns(tuple(names), tuple(types))
    return pyarrow.table({name: packed.arrow_column(rows, name) for name in names})


def _renamed(rows: Any, saved: Columns, columns: Columns) -> Any:
    if _shape(saved) != _shape(columns):
        raise StateError(
            f"{rows.num_rows} rows of the saved state wait for the watermark, with the columns "
            f"{_named(saved)}, now they are {_named(columns)}. Keep them until no row waits."
        )
    names = dict(zip(saved.names, columns.names, strict=True))
    return rows.rename_columns([names.get(name, name) for name in rows.column_names])


def _shape(columns: Columns) -> list[Any]:
    """Which columns there are, and how many of each."""
    return [
        len(value) if isinstance(value, tuple) else value is None
        for value in vars(columns).values()
    ]


def _named(columns: Columns) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in vars(columns).items() if value)


def _packed(rows: Any, packed: PackedColumns) -> Any:
    """Rows as `PackedColumns.pack` sends them; columns that they do not have are null."""
    import pyarrow

    bits = np.zeros(rows.num_rows, np.int64)
    made = {BUCKET: pyarrow.array(np.zeros(rows.num_rows, np.int32))}
    for i, (name, kind) in enumerate(zip(packed.names, packed.types, strict=True)):
        known = name in rows.column_names
        column = rows[name].combine_chunks() if known else pyarrow.nulls(rows.num_rows)
        if packed.travels_as(i) is not None:
            bits |= np.asarray(column.is_null()).astype(np.int64) << i
            column = _numbers(column, name, kind)
        made[alias(i)] = column
    return pyarrow.table({**made, NULLS: pyarrow.array(bits)})


def _numbers(column: Any, name: str, kind: str) -> Any:
    """A column as numbers, 0 where it is null; Spark has dates as days, times as microseconds."""
    import pyarrow

    try:
        if kind == "timestamp":
            column = column.cast(pyarrow.timestamp("us", getattr(column.type, "tz", None)))
        else:
            column = column.cast(_ARROW_TYPES.get(kind, "int64"))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise StateError(
            f"in rows of the saved state that wait for the watermark, the column {name!r} is "
            f"{column.type}, and the stream's is {kind}. Cast it in the stream."
        ) from error
    if kind in ("timestamp", "date"):
        column = column.cast("int64" if kind == "timestamp" else "int32")
    return column.fill_null(False if kind == "boolean" else 0)
