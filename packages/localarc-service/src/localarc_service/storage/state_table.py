"""Streams from the table of keyed streams, and back: one stream per key, one key per row.

The table is the Parquet file that `KeyedStreams.save`, jobs and Spark write, and `Panel.load`
reads. It has the calibrators alone: what else a stream has begins anew, and what a table cannot
hold is refused.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from localarc.calibrators.auto.settings import BYTES
from localarc.many.panel import Panel
from localarc.many.panel.auto_streams import KEY_BYTES
from localarc.many.panel.table import read_metadata, to_table
from localarc.many.rows import bucket_table as table
from localarc.many.rows.bucket import Bucket
from localarc.serialization import StateError
from localarc_client.wire.config import StreamConfig
from localarc_client.wire.key_names import key_of_stream, stream_name
from localarc_service.stored import events
from localarc_service.streams.config_of_settings import config_of
from localarc_service.streams.methods import build_calibrator
from localarc_service.streams.stream import Stream


def read(path: Path, names: Collection[str] = ()) -> Iterator[Stream]:
    """A stream for every key of a table, or those named; raises StateError if one cannot be."""
    found = table.read_table(path)
    try:
        about = read_metadata(found)
        keys = _keys(about, found["key"].to_pylist(), names)
        bucket = table.from_table(found, None, None)
        _require_complete(bucket)
        config = _config(bucket.panel, about)
        panel = _with_prototype(bucket.panel, build_calibrator(config))
        created = events.StreamCreated(time.time(), config)
        for name, key in keys.items():
            yield _stream(name, key, panel, created)
    except (ValueError, TypeError) as error:
        raise StateError(f"{path}: {error}") from error


def _config(panel: Panel, about: dict[str, Any]) -> StreamConfig:
    """The config of all streams; the job's columns, where they are known, name the features."""
    dimension = panel.dimension
    columns = about["roles"]["features"] if "roles" in about else about.get("feature_names")
    features = len(columns) if columns else dimension or 0
    if dimension not in (None, features):
        raise ValueError(f"its inputs have {dimension} feature(s), and its columns {columns}.")
    return config_of(panel.settings, features, columns or None)


def _stream(name: str, key: str, panel: Panel, created: events.StreamCreated) -> Stream:
    stream = Stream.adopt(name, created, panel.calibrator(key))
    if stream.method.pending:
        raise ValueError(_waits(stream.method.pending, key))
    if not stream.consistent:
        raise ValueError(f"the key {key!r} is inconsistent: its losses are not those it learned.")
    return stream


def write(path: Path, streams: Sequence[Stream]) -> None:
    """Write streams with one configuration to a table, completely or not at all."""
    if not streams:
        raise ValueError("there are no streams to export.")
    first = streams[0]
    prototype: Any = build_calibrator(_require_movable(first).state.config)
    panel = Panel(prototype)
    for stream in streams:
        if _require_movable(stream).calibrator.settings != first.calibrator.settings:
            _refuse(stream, f"has other settings than stream {first.name!r}")
        if _inputs(stream) != _inputs(first):
            _refuse(stream, f"has other features than stream {first.name!r}")
        panel.put(key_of_stream(stream.name), stream.calibrator)
    table.write_table(to_table(panel, None, feature_names=first.state.config.feature_names), path)


def _keys(about: dict[str, Any], keys: list[str], names: Collection[str]) -> dict[str, str]:
    """The key of each stream to import."""
    if not about["text keys"]:
        raise ValueError(
            "the table has keys that are integers, and names of streams are text. "
            "Put the calibrators into a panel with text keys first."
        )
    if names:
        wanted = {name: key_of_stream(name) for name in names}
        if unknown := sorted(wanted.keys() - {*map(stream_name, {*keys} & {*wanted.values()})}):
            raise ValueError(f"the table has no key for a stream named {', '.join(unknown)}.")
        return wanted
    if not keys:
        raise ValueError("the table has no keys.")
    return {stream_name(key): key for key in keys}


def _require_complete(bucket: Bucket) -> None:
    """Raise ValueError if something of the table would be lost."""
    if pending := len(bucket.pending):
        raise ValueError(_waits(pending, bucket.pending.keys[0].as_py()))
    if waiting := len(bucket.waiting):
        raise ValueError(
            f"{waiting} row(s) wait for the watermark, and a stream has none. Finish the job "
            "with last=True before its state is moved."
        )


def _waits(pending: int, key: str) -> str:
    return (
        f"{pending} ask(s) are pending, of the key {key!r} for example, and cannot be moved: let "
        "their outcomes be learned first."
    )


def _with_prototype(panel: Panel, prototype: Any) -> Panel:
    """The panel with the settings of streams, where the memory is not automatic."""
    if panel.settings == prototype.settings:
        return panel
    stored = dataclasses.replace(panel.stored(), prototype=prototype.state())
    return Panel(prototype).resumed(stored)


def _require_movable(stream: Stream) -> Stream:
    """The stream; raises ValueError if a table cannot hold all that its thresholds depend on."""
    config, state = stream.state.config, stream.state
    if config.method not in ("arc", "larc", "auto"):
        _refuse(stream, f"has method {config.method}, and a table holds arc, larc or auto")
    if state.pending:
        _refuse(
            stream,
            f"has {len(state.pending)} pending prediction(s), which a table does not hold: send "
            "feedback, or let them expire",
        )
    if not stream.consistent:
        _refuse(stream, "failed its consistency check")
    if config.method == "auto" and state.groups:
        _refuse(stream, "has groups, which thresholds of a table do not depend on")
    if config.method == "auto" and stream.calibrator.settings.max_bytes == BYTES:
        _refuse(
            stream,
            f"has a table of nodes of {BYTES:,} bytes, and a panel has one of {KEY_BYTES:,} per "
            'key: streams with memory {"kind": "nodes", "max_bytes": '
            f"{KEY_BYTES}}} can be moved",
        )
    return stream


def _inputs(stream: Stream) -> tuple[int, list[str] | None]:
    return stream.state.config.features, stream.state.config.feature_names


def _refuse(stream: Stream, reason: str) -> NoReturn:
    raise ValueError(f"stream {stream.name!r} cannot be moved in a table: it {reason}.")
