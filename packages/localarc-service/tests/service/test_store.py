"""Event stores, in SQLite and in PostgreSQL: streams are loaded exactly, events are pruned."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from localarc_client.wire.config import ArcConfig
from localarc_client.wire.lifecycle import ChangeRequest, RenameRequest
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.limits import Limits
from localarc_service.storage.interface import StorageError, Store
from localarc_service.storage.store import EventStore
from localarc_service.streams import lifecycle
from localarc_service.streams.manager import StreamManager
from service.conftest import Open


def manager_with(store: Store, names: Iterable[str] = "ab", rounds: int = 10) -> StreamManager:
    """Streams with some rounds, all of them in the store."""
    manager = StreamManager(Limits(), lambda: 1.0)
    for name in names:
        manager.create(name, ArcConfig(0.1))
    for t in range(rounds):
        for name in names:
            manager.predict(name, PredictRequest(id=f"p{t}"))
            manager.feedback(name, f"p{t}", FeedbackRequest(float(t % 2)))
    store.append(manager.uncommitted)
    manager.uncommitted = []
    return manager


def test_stored_streams_are_loaded_exactly(opened: Open) -> None:
    with opened() as store:
        manager = manager_with(store)
    heard: list[tuple[str, int]] = []
    with opened() as store:
        streams = store.load(publish=lambda name, event: heard.append((name, event.seq)))
        assert (store.events, store.unsaved) == (42, {"a": 1, "b": 2})
    assert {name: each.snapshot() for name, each in streams.items()} == {
        name: each.snapshot() for name, each in manager.streams.items()
    }
    assert heard[:4] == [("a", 0), ("b", 0), ("a", 1), ("a", 2)]
    assert heard[-1] == ("b", 20)


def test_snapshots_replace_what_is_pruned(opened: Open) -> None:
    with opened() as store:
        manager = manager_with(store)
        store.snapshot([manager.streams["a"]])
        assert store.prune() == 1  # b needs everything after the creation of a
        store.snapshot([manager.streams["b"]])
        assert store.prune() == 41
        assert (store.events, store.bytes, store.prune()) == (0, 0, 0)
    with opened() as store:
        streams = store.load()
        assert streams["b"].snapshot() == manager.streams["b"].snapshot()
        manager.streams = streams
        manager.predict("a", PredictRequest(id="next"))
        store.append(manager.uncommitted)  # ids continue after those that were pruned
    with opened() as store:
        assert list(store.load()["a"].state.pending) == ["next"]
        assert store.unsaved == {"a": 43}


def test_single_streams_can_be_loaded(opened: Open) -> None:
    with opened() as store:
        manager = manager_with(store)
        store.snapshot([manager.streams["a"]])
        unsaved = dict(store.unsaved)
        found = store.load({"a", "unknown"})
        assert list(found) == ["a"]
        assert found["a"].snapshot() == manager.streams["a"].snapshot()
        assert store.unsaved == unsaved


def test_a_failed_commit_stores_nothing(opened: Open) -> None:
    with opened() as store:
        manager = manager_with(store)
        before = store.events, store.bytes, dict(store.unsaved)
        manager.create("c", ArcConfig(0.1))
        manager.predict("a", PredictRequest(id="next"))
        last = manager.uncommitted.pop()
        huge = dataclasses.replace(last, seq=2**70)  # no column holds it
        with pytest.raises((OverflowError, *store.errors)):
            store.append([*manager.uncommitted, huge])
        assert (store.events, store.bytes, store.unsaved) == before
        assert store.is_owner()
        store.append([*manager.uncommitted, last])
    with opened() as store:
        assert (list(store.load()), store.events) == (["a", "b", "c"], before[0] + 2)


def test_what_is_stored_about_a_stream_can_be_replaced_or_removed(opened: Open) -> None:
    with opened() as store:
        manager = manager_with(store)
        store.append([], {"a": None, "b": manager.streams["b"]})
        assert (store.events, store.unsaved) == (0, {})
    with opened() as store:
        streams = store.load()
        assert not store.quarantined
    assert list(streams) == ["b"]
    assert streams["b"].snapshot() == manager.streams["b"].snapshot()


def test_a_newer_format_is_rejected(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "log.sqlite")) as database:
        database.execute("PRAGMA user_version = 9")
    with pytest.raises(StorageError, match="format version 9, this localarc reads 1 to 7"):
        EventStore(tmp_path)


def test_a_commit_is_on_disk_before_it_returns(tmp_path: Path) -> None:
    with contextlib.closing(EventStore(tmp_path)) as store:
        found = [store._database.execute(f"PRAGMA {name}").fetchone()[0]
                 for name in ("journal_mode", "synchronous")]  # fmt: skip
        assert found == ["wal", 2]


def test_renamed_and_deleted_streams_are_loaded_as_they_are(opened: Open) -> None:
    with opened() as store:
        manager = manager_with(store, "abc")
        lifecycle.change(manager, "a", ChangeRequest(labels={"team": "ö"}, retention=60.0))
        lifecycle.rename(manager, "a", RenameRequest("d"))
        lifecycle.delete(manager, "b")
        manager.predict("d", PredictRequest(id="after"))
        writes = [write for write in manager.uncommitted if write.event is not None]
        store.append(writes, manager.replaced)
    with opened() as store:
        streams = store.load()
        assert store.quarantined == {}
    assert {name: each.snapshot() for name, each in streams.items()} == {
        name: each.snapshot() for name, each in manager.streams.items()
    }
    assert sorted(streams) == ["c", "d"]
    assert streams["d"].state.config.labels == {"team": "ö"}
