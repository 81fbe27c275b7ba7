"""The stored form of a bucket: its panel, columns and limits, orders or times, and pending asks."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from localarc import serialization
from localarc.many.columns import Columns
from localarc.many.limits import Limits
from localarc.many.panel import Panel
from localarc.many.panel.state import StoredPanel
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import arrow
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.buffered_rows import BufferedRows
from localarc.many.rows.pending_asks import PendingAsks
from localarc.memory.base import Arrays

KIND = "Keyed"
_PANEL = "panel "


def encode(bucket: Bucket) -> bytes:
    """A bucket as bytes: versioned, with a checksum, without pickle."""
    content, panel = bucket.panel.stored().parts()
    arrays: dict[str, Any] = {"skipped": bucket.skipped}
    arrays |= {_PANEL + name: array for name, array in panel.items()}
    if len(bucket.pending):
        arrays |= _pending_arrays(bucket.pending)
    content |= {"roles": bucket.columns.to_json(), "limits": bucket.limits.to_json()}
    if bucket.columns.time is not None:
        content["watermark"] = bucket.watermark
        arrays["last"] = bucket.last
        arrays["waiting"] = np.frombuffer(bucket.waiting.to_bytes(), np.uint8)
    return serialization.encode(KIND, content, arrays)


def decode(
    data: bytes,
    calibrator: Prototype | None,
    columns: Columns | None,
    limits: Limits | None = None,
    earlier: Bucket | None = None,
) -> Bucket:
    """The bucket that was stored; raises StateError if it was stored with other columns.

    It takes the index of an `earlier` bucket, if that has the same keys.
    """
    kind, content, arrays = serialization.decode(data)
    if kind != KIND:
        raise serialization.StateError(f"the state is of kind {kind}, not {KIND}.")
    with serialization.damaged_unless_read():
        stored = Columns.from_json(content["roles"])
        check_columns(columns, stored)
        named = {
            name.removeprefix(_PANEL): array
            for name, array in arrays.items()
            if name.startswith(_PANEL)
        }
        known = None if earlier is None else earlier.panel.index
        found = StoredPanel.from_parts(content, named, known)
        panel = _empty_panel(calibrator or found.new_prototype()).resumed(found)
        skipped = np.array(arrays["skipped"], np.int64)
        if len(skipped) != len(panel):
            raise ValueError(f"{len(panel)} keys have {len(skipped)} counts of orders")
        pending = _pending(arrays, len(stored.features))
        limits = limits or Limits.from_json(content.get("limits", {}))
        bucket = Bucket(panel, stored, limits, skipped, pending)
        if stored.time is not None:
            bucket.watermark = content["watermark"]
            bucket.last = np.array(arrays["last"], np.int64)
            bucket.waiting = BufferedRows.from_bytes(arrays["waiting"].tobytes())
    return bucket


@functools.lru_cache(maxsize=4)
def _empty_panel(calibrator: Prototype) -> Panel:
    """A panel without keys; what depends on the calibrator alone is not done for every bucket."""
    return Panel(calibrator)


def from_panel(panel: Panel, columns: Columns, skipped: dict[str, int]) -> Bucket:
    """A bucket of a panel and the orders that some of its keys consumed without learning."""
    bucket = Bucket(panel, columns)
    bucket.skip(skipped)
    return bucket


def check_columns(now: Columns | None, stored: Columns) -> None:
    """Raise StateError, with the difference, unless the columns are the stored ones."""
    if now is not None and (difference := now.difference(stored)):
        raise serialization.StateError(
            f"{difference}. Keep it, or move the state to a new job with an export."
        )


def _pending_arrays(pending: PendingAsks) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "pending thresholds": pending.thresholds,
        "pending tickets": pending.tickets,
        "pending X": pending.X,
    }
    for name, text in (("pending keys", pending.keys), ("pending ids", pending.ids)):
        parts = [each.encode() for each in text.to_pylist()]
        arrays[name] = np.frombuffer(b"".join(parts), np.uint8)
        arrays[name + " lengths"] = np.array([len(part) for part in parts], np.int64)
    return arrays


def _pending(arrays: Arrays, dimension: int) -> PendingAsks:
    if "pending ids" not in arrays:
        return PendingAsks.none(dimension)
    thresholds, tickets, X = (
        np.array(arrays[f"pending {name}"]) for name in ("thresholds", "tickets", "X")
    )
    keys, ids = (_texts(arrays, f"pending {name}") for name in ("keys", "ids"))
    if {len(keys), len(ids), len(thresholds), len(tickets)} != {len(X)}:
        raise ValueError("its pending asks are cut off")
    return PendingAsks(keys, ids, thresholds, tickets, X)


def _texts(arrays: Arrays, name: str) -> Any:
    data, lengths = arrays[name].tobytes(), arrays[name + " lengths"]
    stops = np.cumsum(lengths).tolist()
    starts = [0, *stops[:-1]]
    return arrow().array(
        [data[start:stop].decode() for start, stop in zip(starts, stops, strict=True)], "string"
    )
