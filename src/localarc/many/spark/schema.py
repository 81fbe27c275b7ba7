"""The columns of a Spark frame: their roles, their types, and the bucket of a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localarc.many.columns import Columns
from localarc.many.spark.packed_columns import WATERMARK, quoted
from localarc.many.spark.session import spark_sql

INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBERS = (*INTEGERS, "float", "double", "decimal", "boolean")
TEXTS = ("string", *INTEGERS)
TIMES = ("timestamp", "timestamp_ntz", "date")
_ADDED_TYPES = {"covered": "boolean", "rejected": "string"}


def check_frame(frame: Any, columns: Columns, rejects: bool) -> None:
    """Raise unless the frame has these columns, with types that fit."""
    types = _types(frame)
    for name in columns.keys:
        _check_type(types, name, TEXTS, "key", "text or integers")
    if columns.time is None:
        _check_type(types, columns.order, INTEGERS, "order", "integers")
    else:
        _check_type(types, columns.time, TIMES, "time", "timestamps")
        _check_watermark(frame, columns.time)
    if columns.kind is not None:
        _check_type(types, columns.kind, ("string",), "kind", "text")
    if columns.id is not None:
        _check_type(types, columns.id, TEXTS, "id", "text or integers")
    numbers = (
        columns.value,
        *columns.features,
        *(() if columns.width is None else (columns.width,)),
    )
    for name in numbers:
        _check_type(types, name, NUMBERS, "score, loss, width and features", "numbers")
    columns.check_added(types, rejects)


def _check_watermark(frame: Any, time: str) -> None:
    marked = [field.name for field in frame.schema.fields if WATERMARK in field.metadata]
    if frame.isStreaming and marked != [time]:
        raise ValueError(
            f"a stream by time requires a watermark on the column {time!r}, which says how late "
            f'rows may come: frame.withWatermark("{time}", "10 minutes").'
        )


def added_schema(columns: Columns, rejects: bool) -> str:
    """The schema of the added columns."""
    names = (*columns.added, "rejected") if rejects else columns.added
    return ", ".join(f"{name} {_ADDED_TYPES.get(name, 'double')}" for name in names)


def key_text(columns: Sequence[str]) -> Any:
    """The key as text; the parts of a composite key as `localarc.many` joins them."""
    functions = spark_sql().functions
    texts = [functions.col(quoted(name)).cast("string") for name in columns]
    if len(texts) == 1:
        return texts[0]
    percent, slash = functions.lit("%"), functions.lit("/")
    escaped = [functions.replace(text, percent, functions.lit("%25")) for text in texts]
    escaped = [functions.replace(text, slash, functions.lit("%2F")) for text in escaped]
    joined = [escaped[0]]
    for text in escaped[1:]:
        joined += [slash, text]
    return functions.concat(*joined)  # null if a part is


def bucket_of(key: Any, buckets: int) -> Any:
    """The bucket of a text key, the same on every machine and in every release."""
    functions = spark_sql().functions
    return functions.pmod(functions.xxhash64(key), functions.lit(buckets)).cast("int")


def _types(frame: Any) -> dict[str, str]:
    if not isinstance(frame, spark_sql().DataFrame):
        raise TypeError(
            f"frame must be a Spark data frame, got {type(frame).__name__}. For frames of pandas, "
            "Polars, PyArrow and DuckDB use localarc.many, which does not require Spark."
        )
    return dict(frame.dtypes)


def _check_type(
    types: dict[str, str], name: Any, allowed: tuple[str, ...], role: str, wanted: str
) -> None:
    if name not in types:
        raise ValueError(f"the frame has no column {name!r}: it has {', '.join(types)}.")
    if types[name].split("(")[0] not in allowed:
        raise TypeError(
            f"{role} must be {wanted}, column {name!r} is {types[name]}. Cast it first."
        )
