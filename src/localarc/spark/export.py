"""Export a checkpoint to ordinary state files, and import such files into a new job."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from localarc import atomic_write, serialization
from localarc.keyed.bucket import Bucket
from localarc.panel.streams import Prototype
from localarc.spark.processor import STATE, read_bucket
from localarc.spark.session import current_session

INDEX = "keys.json"
"""The file of each key; written last, so that an incomplete export is recognised."""

_SAFE_NAME = re.compile(r"[a-z0-9_.-]{1,100}")
_Folder = str | os.PathLike[str]


def export_state(
    checkpoint: _Folder,
    folder: _Folder,
    *,
    calibrator: Prototype | None = None,
    operator: int = 0,
    session: Any = None,
) -> dict[str, Path]:
    """Write the calibrator of every key to a separate file, for its class's `load`.

    The state is that of the last finished micro-batch; the query may keep running. Everything
    passes through the driver, one bucket at a time.

    Parameters
    ----------
    checkpoint : path-like
        The checkpoint location of the query.
    folder : path-like
        A new or empty folder.
    calibrator : ARC, LARC or AutoLARC, optional
        A new calibrator with the same settings. Required if its kernel or rate is a function of
        yours: functions are not stored.
    operator : int, default 0
        The number of the stateful operator, if the query has several.
    session : pyspark.sql.SparkSession, optional
        The session; the active one by default.

    Returns
    -------
    dict of str to Path
        The file of each key.
    """
    target = Path(folder)
    if target.exists() and any(target.iterdir()):
        raise FileExistsError(
            f"{target} is not empty. Name a new folder, so that no stale state remains."
        )
    target.mkdir(parents=True, exist_ok=True)
    index: dict[str, dict[str, Any]] = {}
    for bucket in _buckets(current_session(session), checkpoint, operator, calibrator):
        for key, skipped in zip(map(str, bucket.panel.keys), bucket.skipped.tolist(), strict=True):
            index[key] = {"file": _file_name(key), "skipped": skipped}
            (target / index[key]["file"]).write_bytes(bucket.panel.calibrator(key).state())
    if hasattr(os, "sync"):
        os.sync()  # once for all files, before the index lists them
    atomic_write.write(target / INDEX, json.dumps(index, indent=1, sort_keys=True).encode())
    return {key: target / entry["file"] for key, entry in index.items()}


def import_state(source: _Folder | Mapping[str, _Folder], *, session: Any = None) -> Any:
    """Return saved calibrators as a frame for `calibrate(..., initial=...)`.

    The next order of a key is one more than the rounds of its calibrator, plus the orders that bad
    rows consumed, as recorded by `export_state`. Everything passes through the driver.

    Parameters
    ----------
    source : path-like or mapping of str to path-like
        A folder that `export_state` wrote, or the state file of each key.
    session : pyspark.sql.SparkSession, optional
        The session; the active one by default.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns key, state and skipped.
    """
    if isinstance(source, Mapping):
        entries = [(str(key), Path(path), 0) for key, path in source.items()]
    else:
        entries = list(_exported(Path(source)))
    rows = [(key, bytearray(_checked(path)), skipped) for key, path, skipped in entries]
    return current_session(session).createDataFrame(
        rows, "key string, state binary, skipped bigint"
    )


def _buckets(
    session: Any, checkpoint: _Folder, operator: int, calibrator: Prototype | None
) -> Iterator[Bucket]:
    reader = session.read.format("statestore").option("stateVarName", STATE)
    stored = reader.option("operatorId", operator).load(os.fspath(checkpoint))
    for row in stored.select("value.panel", "value.skipped", "value.buckets").toLocalIterator():
        yield read_bucket((row.panel, row.skipped, row.buckets), calibrator, None)


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


def _file_name(key: str) -> str:
    """A unique file name, also on file systems that ignore case."""
    if _SAFE_NAME.fullmatch(key):
        return f"{key}.state"
    return f"{quote(key, safe='')[:60]}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.state"
