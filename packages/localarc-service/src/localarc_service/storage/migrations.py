"""Migrations: a data folder of an older version is converted when it is opened, all or nothing.

Each step turns plain values of one version into those of the next. Old layouts are written out here
as names and positions, independent of today's classes.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from localarc import serialization
from localarc_service.storage import erasure
from localarc_service.storage.checksums import is_intact, row_checksum
from localarc_service.stored import events
from localarc_service.stored.events import Event
from localarc_service.stored.format import VERSION, Snapshot, State, encode_snapshot

OLDEST = 1

Plain = dict[str, Any]
Row: TypeAlias = tuple[str, int, bytes, int]
"""A stream, a position, what the row holds, and its checksum: the same in every database."""
Upgrade: TypeAlias = Callable[[bytes, int], bytes]


def migrate(database: sqlite3.Connection, version: int) -> None:
    """Convert an older version to the present one, in the transaction of the caller."""
    if version == 1:
        database.execute("ALTER TABLE events RENAME COLUMN entry TO event")
        database.execute("ALTER TABLE snapshots RENAME COLUMN event TO last_event")
    if version < 4:
        _add_checksums(database)
    if version < 5:
        database.execute(erasure.TABLE)
    _upgrade_content(database, version)
    database.execute(f"PRAGMA user_version = {VERSION}")


def _upgrade_content(database: sqlite3.Connection, version: int) -> None:
    rows = database.execute("SELECT id, stream, seq, event, checksum FROM events").fetchall()
    change = "UPDATE events SET event = ?, checksum = ? WHERE id = ?"
    for number, *row in rows:
        database.execute(change, (*upgrade_row(row, version, upgrade_event)[2:], number))
    change = "UPDATE snapshots SET state = ?, checksum = ? WHERE rowid = ?"
    for (number,) in database.execute("SELECT rowid FROM snapshots").fetchall():
        row = database.execute("SELECT * FROM snapshots WHERE rowid = ?", (number,)).fetchone()
        database.execute(change, (*upgrade_row(row, version, upgrade_snapshot)[2:], number))


def _add_checksums(database: sqlite3.Connection) -> None:
    """Version 4: a checksum per row."""
    for table in "events", "snapshots":
        database.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
    database.create_function("row_checksum", 3, row_checksum, deterministic=True)
    for table, number, data in ("events", "seq", "event"), ("snapshots", "last_event", "state"):
        database.execute(f"UPDATE {table} SET checksum = row_checksum(stream, {number}, {data})")


def upgrade_row(row: Sequence[Any], version: int, upgrade: Upgrade) -> Row:
    """A row of either table, as the present version stores it; a damaged one stays damaged."""
    stream, number, data, checksum = row
    if version == VERSION or not is_intact(stream, number, data, checksum):
        return stream, number, data, checksum
    data = upgrade(data, version)
    return stream, number, data, row_checksum(stream, number, data)


def upgrade_event(data: bytes, version: int) -> bytes:
    """An event of an older version, as the present one stores it."""
    event = msgspec.json.decode(data)
    if version == 1:
        event["kind"] = _KINDS_1[event["kind"]]
    if "config" in event:
        event["config"] = _upgrade_config(event["config"], version)
    return events.encode(msgspec.convert(event, Event, str_keys=True))


def upgrade_snapshot(data: bytes, version: int) -> bytes:
    """A snapshot of an older version, as the present one stores it."""
    _, content, arrays = serialization.decode(data, "the snapshot")
    state = msgspec.msgpack.decode(arrays["book" if version == 1 else "state"].tobytes())
    if version == 1:
        state = _named_state(state)
    if version < 3:
        state["pending"] = {key: row | _PENDING_3 for key, row in state["pending"].items()}
        state["answered"] = {key: [*row, *_ANSWERED_3] for key, row in state["answered"].items()}
    if version < 5:
        state["answered"] = {key: [*row, _ANSWERED_AT_5] for key, row in state["answered"].items()}
        state["imported"] = True  # maybe: not recorded before version 5
    state["pending"] = {key: _PENDING_6 | row for key, row in state["pending"].items()}
    for name in "config", "first_config":
        if state.get(name) is not None:
            state[name] = _upgrade_config(state[name], version)
    return encode_snapshot(
        Snapshot(
            content["name"],
            content["differs" if version == 1 else "replay_differs"],
            msgspec.msgpack.encode(msgspec.convert(state, State)),
            _WATCH_4 if version < 4 else _upgrade_watch(arrays["watch"].tobytes()),
            arrays["calibrator"].tobytes(),
        )
    )


def _upgrade_config(config: Plain, version: int) -> Plain:
    if version == 1:
        config = _config_from_1(config)
    if version < 3:
        config = _config_from_2(config)
    if version < 4:
        config = _config_from_3(config)
    if version < 5:
        config = config | {"labels": {}, "retention": None}
    return _config_from_6(_STALE_AFTER_6 | config)


# ---- version 6: a config had the fields of all methods, and a kernel its denominator alone -------

_ALL_7 = (
    "alpha", "features", "timeout", "default_loss", "retain", "feature_names", "tolerance",
    "window", "stale_after", "labels", "retention",
)  # fmt: skip
_SETS_7 = "set", "loss_bound", "score_range", "initial_threshold"
_STEPS_7 = *_SETS_7, "rate", "floor"
_FIELDS_7 = {
    "auto": (*_SETS_7, "limits", "promise", "evenness", "unit"),
    "gate": (),
    "arc": _STEPS_7,
    "mondrian": _STEPS_7,
    "larc": (*_STEPS_7, "regularization", "clip"),
}
_LATTICE_6 = {"kind": "lattice", "tolerance": 1e-15, "max_bytes": 2**26}
_DICTIONARY_6 = {"kind": "dictionary", "tolerance": 1e-4, "max_size": 1024}
_PER_SQUARE_6 = {"rbf": 2.0, "rational-quadratic": 2.0}


def _config_from_6(config: Plain) -> Plain:
    """What the method does not use had no effect; the automatic memory becomes its choice."""
    method, memory = config["method"], config["memory"]
    new = {"method": method} | {name: config[name] for name in (*_ALL_7, *_FIELDS_7[method])}
    if new.get("set") is not None:
        new["set"] = {name: value for name, value in new["set"].items() if value is not None}
    if method in ("auto", "gate"):
        return new | {
            "memory": {"kind": "nodes", "max_bytes": memory.get("max_bytes") or 9_000_000}
        }
    new["initial_threshold"] = new["initial_threshold"] or 0.0
    if method != "larc":
        return new
    if memory["kind"] == "auto":
        on_lattice = config["kernel"]["kind"] == "rbf" and config["features"] <= 2
        memory = _LATTICE_6 if on_lattice else _DICTIONARY_6
    kept = {name: value for name, value in memory.items() if value is not None}
    return new | {"memory": kept, "kernel": _kernel_from_6(config["kernel"])}


def _kernel_from_6(kernel: Plain) -> Plain:
    """A length scale; with the denominator, where the length scale does not make exactly that."""
    squares, per = kernel["denominator"], _PER_SQUARE_6.get(kernel["kind"], 1.0)
    listed = squares if isinstance(squares, list) else [squares]
    lengths = [math.sqrt(square / per) for square in listed]
    short = [float(f"{length:.15g}") for length in lengths]  # as it was sent, before it was rounded
    lengths = [s if per * s * s == q else n for s, n, q in zip(short, lengths, listed, strict=True)]
    if [per * length * length for length in lengths] == listed:
        kernel = {name: value for name, value in kernel.items() if name != "denominator"}
    return kernel | {"length_scale": lengths if isinstance(squares, list) else lengths[0]}


# ---- version 5: every loss was watched, and nothing recovered ------------------------------------

_PENDING_6: Plain = {"informed": True}
_STALE_AFTER_6: Plain = {"stale_after": 900.0}


def _upgrade_watch(data: bytes) -> bytes:
    watch = msgspec.msgpack.decode(data)
    monitors = {part: _STALE_AFTER_6 | each for part, each in watch["monitors"].items()}
    return msgspec.msgpack.encode(watch | {"monitors": monitors})


# ---- version 4: configs did not change, answers had no time --------------------------------------

_ANSWERED_AT_5 = 0.0  # older than anything: these are the first to be forgotten


# ---- version 3: nothing watched the losses -------------------------------------------------------


_WATCH_4 = msgspec.msgpack.encode({"monitors": {}, "announced": {}})


def _config_from_3(config: Plain) -> Plain:
    above = config["loss_bound"] - config["alpha"]
    tolerance = min(0.02 * config["loss_bound"], above / 2)
    return config | {"feature_names": None, "tolerance": tolerance, "window": 1000}


# ---- version 2: no methods, one group at most, losses only ---------------------------------------

_PENDING_3: Plain = {"scores": None, "ticket": None}
_ANSWERED_3 = None, None  # score and outcome


def _config_from_2(config: Plain) -> Plain:
    """The method was ARC without a kernel, else L-ARC."""
    return config | {
        "method": "arc" if config["kernel"] is None else "larc",
        "floor": None,
        "limits": (None, None),
        "promise": "both",
        "evenness": 1.0,
        "unit": None,
    }


# ---- version 1: position was the schema ----------------------------------------------------------

_KINDS_1 = {
    "created": "stream_created",
    "predicted": "prediction_made",
    "learned": "feedback_received",
    "expired": "prediction_expired",
    "imported": "state_imported",
}
_STATE_1 = (
    "config", "created", "seq", "predictions", "rounds", "loss_sum", "late", "expired",
    "outstanding", "newest_learned", "pending", "answered", "groups", "features", "history",
)  # fmt: skip
_PENDING_1 = "seq", "at", "digest", "threshold", "x", "group", "size"
_GROUP_1 = "rounds", "loss_sum"
_FEATURE_1 = "low", "high", "total"
_HISTORY_1 = (
    "stride", "rounds", "at", "risk", "threshold", "size", "observed", "pending", "late", "expired"
)  # fmt: skip


def _named_state(values: Sequence[Any]) -> Plain:
    state = _named(_STATE_1, values)
    state["pending"] = {key: _named(_PENDING_1, row) for key, row in state["pending"].items()}
    state["groups"] = {key: _named(_GROUP_1, row) for key, row in state["groups"].items()}
    state["features"] = [_named(_FEATURE_1, row) for row in state["features"]]
    state["history"] = _named(_HISTORY_1, state["history"])
    return state


def _named(names: Sequence[str], values: Sequence[Any]) -> Plain:
    return dict(zip(names, values, strict=True))


def _config_from_1(config: Plain) -> Plain:
    """The kernel's denominator was called `length_scale`."""
    kernel = config["kernel"]
    if kernel is not None:
        kernel["denominator"] = kernel.pop("length_scale")
    return config
