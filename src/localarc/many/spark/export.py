"""Export a checkpoint to one Parquet file, and import saved state into a new job."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from localarc import serialization
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import METADATA, read_metadata
from localarc.many.rows import bucket_table as table
from localarc.many.rows.bucket import Bucket
from localarc.many.spark.buffered_rows import unpack_waiting
from localarc.many.spark.processor import STATE, read_bucket
from localarc.many.spark.session import current_session

INDEX = "keys.json"
"""In a folder that earlier releases exported to: the file of each key."""

_Path = str | os.PathLike[str]


def export_state(
    checkpoint: _Path,
    path: _Path,
    *,
    calibrator: Prototype | None = None,
    operator: int = 0,
    session: Any = None,
) -> Path:
    """Write the state of every key to one Parquet file, one row per key.

    `import_state`, `KeyedStreams.load` and `Panel.load` read it. The state is the one after
    the last finished micro-batch; the query may keep running. Everything passes through the driver.

    Parameters
    ----------
    checkpoint : path-like
        The checkpoint location of the query.
    path : path-like
        The file, which must not exist.
    calibrator : ARC, LARC or AutoLARC, optional
        A new calibrator with the same settings. Required if its kernel or rate is a function of
        yours: functions are not stored.
    operator : int, default 0
        The number of the stateful operator, if the query has several.
    session : pyspark.sql.SparkSession, optional
        The session; the active one by default.

    Returns
    -------
    Path
        The file.
    """
    target = Path(path)
    if target.exists():
        raise FileExistsError(f"{target} exists. Name a new file, so that no state is lost.")
    buckets = _buckets(current_session(session), checkpoint, operator, calibrator)
    tables = [table.to_table(bucket) for bucket in buckets]
    if not tables:
        raise serialization.StateError(
            f"{checkpoint} has no state yet. Export after the first finished micro-batch."
        )
    table.write_table(table.concat(tables), target)
    return target


def import_state(source: _Path | Mapping[str, _Path], *, session: Any = None) -> Any:
    """Return saved state as a frame for `calibrate(..., initial=...)`.

    The next order of a key is one more than the rounds of its calibrator, plus the orders that asks
    and bad rows consumed. Everything passes through the driver.

    Parameters
    ----------
    source : path-like or mapping of str to path-like
        A Parquet file of `export_state` or `KeyedStreams.save`, a folder that an earlier release
        exported to, or the state file of each key.
    session : pyspark.sql.SparkSession, optional
        The session; the active one by default.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per key.
    """
    spark = current_session(session)
    if isinstance(source, Mapping):
        return _single_states(spark, [(str(key), Path(path), 0) for key, path in source.items()])
    if Path(source).is_dir():
        return _single_states(spark, list(_exported(Path(source))))
    found = table.read_table(source)
    about = read_metadata(found)
    if not about["text keys"]:
        raise serialization.StateError(
            f"{source} has keys that are integers, and keys on Spark are text. "
            "Put the calibrators into a panel with text keys first."
        )
    # The metadata travels with the column of keys.
    column = spark.createDataFrame(_spark_types(found))
    metadata = {"localarc": found.schema.metadata[METADATA].decode()}
    return column.withMetadata("key", metadata)


def _spark_types(found: Any) -> Any:
    """The table with types that Spark reads: no large lists, no large binaries."""
    import pyarrow

    def plain(kind: Any) -> Any:
        if pyarrow.types.is_large_list(kind):
            return pyarrow.list_(kind.value_type)
        return pyarrow.binary() if pyarrow.types.is_large_binary(kind) else kind

    return found.cast(pyarrow.schema([part.with_type(plain(part.type)) for part in found.schema]))


def _single_states(spark: Any, entries: list[tuple[str, Path, int]]) -> Any:
    rows = [(key, bytearray(_checked(path)), skipped) for key, path, skipped in entries]
    return spark.createDataFrame(rows, "key string, state binary, skipped bigint")


def _buckets(
    session: Any, checkpoint: _Path, operator: int, calibrator: Prototype | None
) -> Iterator[Bucket]:
    reader = session.read.format("statestore").option("stateVarName", STATE)
    found = reader.option("operatorId", operator).load(os.fspath(checkpoint))
    for row in found.select("value.panel", "value.skipped", "value.buckets").toLocalIterator():
        bucket = read_bucket((row.panel, row.skipped, row.buckets), calibrator, None)
        if len(bucket.waiting):
            unpack_waiting(bucket)
            # Each of their keys needs a row.
            bucket.skip(dict.fromkeys(bucket.waiting.keys.to_pylist(), 0))
        yield bucket


def _exported(folder: Path) -> Iterator[tuple[str, Path, int]]:
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise serialization.StateError(
            f"{folder} has no {INDEX}: it is not a finished export. "
            "Pass a folder that export_state wrote, or a mapping from keys to files."
        ) from error
    for key, entry in index.items():
        yield key, folder / entry["file"], entry["skipped"]


def _checked(path: Path) -> bytes:
    data = serialization.read(path)
    kind = serialization.decode(data, str(path))[0]
    if kind not in ("ARC", "LARC", "AutoLARC"):
        raise serialization.StateError(
            f"{path} holds a {kind}. Only ARC, LARC and AutoLARC can seed a keyed stream."
        )
    return data
