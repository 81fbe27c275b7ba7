"""Migrations: a data folder of an older version is converted when it is opened, all or nothing.

Old layouts are written out here as names and positions, independent of today's classes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from localarc import serialization
from localarc.service.storage import events
from localarc.service.storage.events import Event
from localarc.service.storage.format import VERSION, Snapshot, State, encode_snapshot

OLDEST = 1


def migrate(database: sqlite3.Connection) -> None:
    """Convert version 1 to version 2, in the transaction of the caller."""
    database.execute("ALTER TABLE events RENAME COLUMN entry TO event")
    database.execute("ALTER TABLE snapshots RENAME COLUMN event TO last_event")
    for number, data in database.execute("SELECT id, event FROM events").fetchall():
        row = upgrade_event(data), number
        database.execute("UPDATE events SET event = ? WHERE id = ?", row)
    for (stream,) in database.execute("SELECT stream FROM snapshots").fetchall():
        found = database.execute("SELECT state FROM snapshots WHERE stream = ?", (stream,))
        row = upgrade_snapshot(found.fetchone()[0]), stream
        database.execute("UPDATE snapshots SET state = ? WHERE stream = ?", row)
    database.execute(f"PRAGMA user_version = {VERSION}")


# ---- version 1 -------------------------------------------------------------------------------

_KINDS = {
    "created": "stream_created",
    "predicted": "prediction_made",
    "learned": "feedback_received",
    "expired": "prediction_expired",
    "imported": "state_imported",
}
_STATE = (
    "config", "created", "seq", "predictions", "rounds", "loss_sum", "late", "expired",
    "outstanding", "newest_learned", "pending", "answered", "groups", "features", "history",
)  # fmt: skip
_PENDING = "seq", "at", "digest", "threshold", "x", "group", "size"
_GROUP = "rounds", "loss_sum"
_FEATURE = "low", "high", "total"
_HISTORY = (
    "stride", "rounds", "at", "risk", "threshold", "size", "observed", "pending", "late", "expired"
)  # fmt: skip


def upgrade_event(data: bytes) -> bytes:
    """An event of version 1, as version 2 stores it."""
    event = msgspec.json.decode(data)
    event["kind"] = _KINDS[event["kind"]]
    if "config" in event:
        event["config"] = _upgrade_config(event["config"])
    return events.encode(msgspec.convert(event, Event, str_keys=True))


def upgrade_snapshot(data: bytes) -> bytes:
    """A snapshot of version 1, in which position was the schema, as version 2 stores it."""
    _, content, arrays = serialization.decode(data, "the snapshot")
    state = _named(_STATE, msgspec.msgpack.decode(arrays["book"].tobytes()))
    state["config"] = _upgrade_config(state["config"])
    state["pending"] = {key: _named(_PENDING, row) for key, row in state["pending"].items()}
    state["groups"] = {key: _named(_GROUP, row) for key, row in state["groups"].items()}
    state["features"] = [_named(_FEATURE, row) for row in state["features"]]
    state["history"] = _named(_HISTORY, state["history"])
    return encode_snapshot(
        Snapshot(
            content["name"],
            content["differs"],
            msgspec.msgpack.encode(msgspec.convert(state, State)),
            arrays["calibrator"].tobytes(),
        )
    )


def _named(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))


def _upgrade_config(config: dict[str, Any]) -> dict[str, Any]:
    """Version 1 called the kernel's denominator `length_scale`."""
    kernel = config["kernel"]
    if kernel is not None:
        kernel["denominator"] = kernel.pop("length_scale")
    return config
