"""Erasure: deletion is all or nothing, and a crash does not leave bytes behind for good."""

from __future__ import annotations

import contextlib
import logging
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc_client.wire.lifecycle import RenameRequest
from localarc_service.storage import erasure
from localarc_service.storage.high_water_mark import HighWaterMark
from localarc_service.storage.store import EventStore
from localarc_service.streams import lifecycle
from localarc_service.streams.manager import StreamManager
from service.test_store import manager_with

NAMES = "walrus", "seal"


def stored_in(folder: Path) -> set[str]:
    """Which names occur in the files of a folder."""
    contents = [path.read_bytes() for path in folder.iterdir() if path.is_file()]
    return {name for name in NAMES if any(name.encode() in each for each in contents)}


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[tuple[EventStore, StreamManager]]:
    with contextlib.closing(EventStore(folder)) as store:
        yield store, manager_with(store, NAMES)


def commit(store: EventStore, manager: StreamManager) -> None:
    writes = [write for write in manager.uncommitted if write.event is not None]
    store.append(writes, manager.replaced)
    manager.uncommitted, manager.replaced = [], {}


def reopened(folder: Path) -> set[str]:
    """The streams that a start on a folder finds, none of them damaged."""
    with contextlib.closing(EventStore(folder)) as store:
        streams = store.load()
        assert store.quarantined == {}
        assert all(stream.consistent for stream in streams.values())
        return set(streams)


def delete(manager: StreamManager) -> None:
    lifecycle.delete(manager, "walrus")


def rename(manager: StreamManager) -> None:
    lifecycle.rename(manager, "walrus", RenameRequest("orca"))


CASES = pytest.mark.parametrize(("work", "after"), [(delete, {"seal"}), (rename, {"seal", "orca"})])


@CASES
def test_a_kill_between_any_two_steps_leaves_the_stream_before_or_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[[Any], None], after: set[str]
) -> None:
    """The files as they are after each step of a commit are those that a kill leaves."""
    folder = tmp_path / "data"
    folder.mkdir()
    copies: list[Path] = []

    def copying(method: Any) -> Any:
        def step(*arguments: Any) -> Any:
            found = method(*arguments)
            copies.append(tmp_path / f"copy-{len(copies)}")
            shutil.copytree(folder, copies[-1])
            return found

        return step

    with opened(folder) as (store, manager):
        work(manager)
        for kind, name in (
            (HighWaterMark, "_rewrite"),  # the marks, before the commit
            (EventStore, "_replace"),  # in the transaction
            (EventStore, "_count"),  # after it
            (HighWaterMark, "_append"),
            (HighWaterMark, "advance"),
        ):
            monkeypatch.setattr(kind, name, copying(getattr(kind, name)))
        commit(store, manager)
        monkeypatch.undo()
    found = [reopened(copy) for copy in copies]
    assert found[0] == found[1] == set(NAMES)
    assert found[2:] == [after] * len(found[2:])
    assert len(found) >= 4


@CASES
def test_the_next_start_erases_what_a_killed_service_did_not(
    tmp_path: Path, work: Callable[[Any], None], after: set[str]
) -> None:
    folder, copy = tmp_path / "data", tmp_path / "copy"
    folder.mkdir()
    with opened(folder) as (store, manager):
        work(manager)
        commit(store, manager)
        shutil.copytree(folder, copy)  # as a kill leaves it
    assert stored_in(copy) == set(NAMES)
    with contextlib.closing(EventStore(copy)) as store:
        assert set(store.load()) == after
        store.flush()
        assert stored_in(copy) == {"seal"}
    assert reopened(copy) == after


def test_what_a_process_left_that_was_killed_while_it_wrote_the_marks_is_erased(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as (store, manager):
        shutil.copy(tmp_path / "log.marks", tmp_path / ".log.marks.1234.partial")
        delete(manager)
        commit(store, manager)
    assert stored_in(tmp_path) == {"seal"}


def test_erasure_waits_for_a_reader_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(erasure, "DELETED_SECONDS", 0.0)
    monkeypatch.setattr(erasure, "RETRY_SECONDS", 0.0)
    with opened(tmp_path) as (store, manager):
        reader = sqlite3.connect(tmp_path / "log.sqlite", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        delete(manager)
        commit(store, manager)
        with caplog.at_level(logging.WARNING):
            store.flush()
        assert "another process reads the database" in caplog.text
        assert stored_in(tmp_path) == set(NAMES)
        reader.close()
        store.flush()
        assert stored_in(tmp_path) == {"seal"}


def test_deletions_are_erased_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    erased: list[float] = []

    def erase() -> bool:
        erased.append(now[0])
        return True

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with opened(tmp_path) as (store, manager):
        monkeypatch.setattr(store._erasure, "_erase", erase)
        for name in NAMES:
            lifecycle.delete(manager, name)
            commit(store, manager)
            store.flush()
            now[0] += 9.0
        assert erased == []
        for _ in range(3):
            store.flush()
            now[0] += 1.0
        assert erased == [118.0]
        monkeypatch.undo()


def test_a_deletion_that_cannot_be_stored_leaves_everything(tmp_path: Path) -> None:
    folder, copy = tmp_path / "data", tmp_path / "copy"
    folder.mkdir()
    with opened(folder) as (store, manager):
        delete(manager)
        store._database.execute("PRAGMA query_only = ON")
        with pytest.raises(sqlite3.OperationalError):
            commit(store, manager)
        store._database.execute("PRAGMA query_only = OFF")
        shutil.copytree(folder, copy)
        marks = HighWaterMark(copy)
        assert marks.streams == {"walrus": 20, "seal": 20}
        marks.close()
    assert reopened(copy) == set(NAMES)


def test_a_deletion_fails_if_the_marks_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: HighWaterMark) -> None:
        raise OSError(28, "No space left on device")

    with opened(tmp_path) as (store, manager):
        delete(manager)
        with monkeypatch.context() as patch:
            patch.setattr(HighWaterMark, "_rewrite", full)
            with pytest.raises(sqlite3.OperationalError, match="No space left on device"):
                commit(store, manager)
        assert set(store.load(NAMES)) == set(NAMES)
        assert store._marks.streams["walrus"] == 20
