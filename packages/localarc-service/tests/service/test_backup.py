"""Backup: a copy of a folder in use is complete as of one moment, checked, and can be restored."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc.cli import main
from localarc_client.wire.predictions import PredictRequest
from localarc_service.server import FolderLock
from localarc_service.storage import backup as backup_module
from localarc_service.storage.backup import backup, copy
from localarc_service.storage.check import check
from localarc_service.storage.high_water_mark import HighWaterMark
from localarc_service.storage.store import EventStore
from localarc_service.streams.manager import StreamManager
from localarc_service.workers.layout import workers_of
from service.service_in_thread import wait_for
from service.service_process import Caller, Server
from service.test_damage import edit
from service.test_store import manager_with

CONFIG = {"alpha": 0.1, "method": "arc"}


@pytest.fixture
def used(tmp_path: Path) -> Iterator[tuple[Path, EventStore, StreamManager]]:
    """A folder that is in use: locked, with an open store and events in the write-ahead log."""
    folder = tmp_path / "data"
    folder.mkdir()
    lock = FolderLock(folder)
    with contextlib.closing(EventStore(folder)) as store:
        manager = manager_with(store, "abc")
        store.snapshot([manager.streams["a"]])
        yield folder, store, manager
    lock.release()


def predict(store: EventStore, manager: StreamManager, name: str, key: str) -> None:
    manager.predict(name, PredictRequest(id=key))
    store.append(manager.uncommitted)
    manager.uncommitted = []


def snapshots(folder: Path) -> dict[str, bytes]:
    with contextlib.closing(EventStore(folder)) as store:
        found = {name: each.snapshot() for name, each in store.load().items()}
        assert not store.quarantined
        return found


def test_a_backup_of_a_folder_in_use_is_exact_and_changes_nothing(
    used: tuple[Path, EventStore, StreamManager], tmp_path: Path
) -> None:
    folder, store, manager = used
    found = backup(folder, tmp_path / "backups" / "1")
    assert [(each.name, each.seq, each.problem) for each in found.streams] == [
        (name, 20, "") for name in "abc"
    ]
    assert snapshots(tmp_path / "backups" / "1") == {
        name: each.snapshot() for name, each in manager.streams.items()
    }
    assert [path.name for path in (tmp_path / "backups").iterdir()] == ["1"]
    predict(store, manager, "a", "later")  # the store goes on
    assert "later" in store.load({"a"})["a"].state.pending


def test_a_stopped_folder_is_copied_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    FolderLock(folder).release()
    with contextlib.closing(EventStore(folder)) as store:
        manager = manager_with(store)
    backup(folder, tmp_path / "copy")
    assert (tmp_path / "copy" / "log.sqlite").read_bytes() == (folder / "log.sqlite").read_bytes()
    assert snapshots(tmp_path / "copy") == {
        name: each.snapshot() for name, each in manager.streams.items()
    }


def test_events_that_arrive_during_a_backup_are_in_it_as_a_whole_or_not(
    used: tuple[Path, EventStore, StreamManager], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, store, manager = used
    copy_database = backup_module._copy_database

    def busy(source: Path, target: Path) -> None:
        predict(store, manager, "a", "before")
        copy_database(source, target)
        predict(store, manager, "b", "after")
        store.append([], {"c": None})  # deleted: its mark must not be missed in the copy

    monkeypatch.setattr(backup_module, "_copy_database", busy)
    found = backup(folder, tmp_path / "copy")
    assert {each.name: (each.seq, each.pending) for each in found.streams} == {
        "a": (21, 1),
        "b": (20, 0),
        "c": (20, 0),
    }


def test_a_stream_that_goes_before_the_copy_is_not_missed(
    used: tuple[Path, EventStore, StreamManager], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, store, _ = used
    copy_database = backup_module._copy_database

    def late(source: Path, target: Path) -> None:
        store.append([], {"c": None})
        copy_database(source, target)

    monkeypatch.setattr(backup_module, "_copy_database", late)
    assert [each.name for each in backup(folder, tmp_path / "copy").streams] == ["a", "b"]


def test_a_damaged_folder_gives_no_backup_unless_asked(
    used: tuple[Path, EventStore, StreamManager],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, _, _ = used
    edit(folder, "DELETE FROM events WHERE stream = 'b' AND seq = 7")
    target = tmp_path / "copy"
    command = ["backup", "--data", str(folder), "--out", str(target)]
    for options, code in ([], 2), (["--allow-damage"], 1):
        with pytest.raises(SystemExit) as ended:
            main([*command, *options])
        assert ended.value.code == code
        printed = capsys.readouterr()
        assert "b: event 7 is damaged or missing" in printed.out + printed.err
        assert target.exists() == (code == 1)
        assert not list(tmp_path.glob(".copy*"))
    assert check(target).damaged


def test_loss_in_the_live_folder_shows_in_its_backup(
    used: tuple[Path, EventStore, StreamManager], tmp_path: Path
) -> None:
    folder, _, _ = used
    edit(folder, "DELETE FROM events WHERE stream = 'b' AND seq = 20")  # only the mark knows
    with pytest.raises(ValueError, match="b: event 20 is damaged or missing"):
        backup(folder, tmp_path / "copy")


def test_loss_in_a_backup_shows_when_it_is_used(
    used: tuple[Path, EventStore, StreamManager], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, store, manager = used
    copy_database = backup_module._copy_database

    def busy(source: Path, target: Path) -> None:
        predict(store, manager, "b", "p")  # after the marks were read
        copy_database(source, target)

    monkeypatch.setattr(backup_module, "_copy_database", busy)
    backup(folder, tmp_path / "copy")
    edit(tmp_path / "copy", "DELETE FROM events WHERE stream = 'b' AND seq = 21")
    assert [each.problem for each in check(tmp_path / "copy").streams if each.name == "b"] == [
        "event 21 is damaged or missing; 1 acknowledged event(s) are missing"
    ]


def test_the_folders_of_all_workers_are_in_one_backup(tmp_path: Path) -> None:
    data, target = tmp_path / "data", tmp_path / "copy"
    data.mkdir()
    (data / "workers.json").write_text('{"workers": 2}')
    for index, name in enumerate("ab"):
        folder = data / f"worker-{index}"
        folder.mkdir()
        with contextlib.closing(EventStore(folder)) as store:
            manager_with(store, name)
    with pytest.raises(SystemExit) as ended:
        main(["backup", "--data", str(data), "--out", str(target)])
    assert ended.value.code == 0
    assert workers_of(target) == 2
    for index, name in enumerate("ab"):
        folders = data / f"worker-{index}", target / f"worker-{index}"
        assert [list(each) for each in map(snapshots, folders)] == [[name], [name]]
        assert snapshots(folders[0]) == snapshots(folders[1])


def test_an_existing_backup_is_not_touched(
    used: tuple[Path, EventStore, StreamManager], tmp_path: Path
) -> None:
    target = tmp_path / "copy"
    target.mkdir()
    with pytest.raises(ValueError, match="exists: choose another name"):
        backup(used[0], target)
    assert list(target.iterdir()) == []
    with pytest.raises(ValueError, match="is not a data folder"):
        backup(tmp_path / "copy", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_copy_has_marks_that_are_never_ahead(
    used: tuple[Path, EventStore, StreamManager], tmp_path: Path
) -> None:
    folder, _, _ = used
    (tmp_path / "copy").mkdir()
    copy(folder, tmp_path / "copy")
    assert HighWaterMark(tmp_path / "copy").streams == HighWaterMark(folder).streams


@pytest.mark.service
def test_a_restore_is_rehearsed_step_by_step(tmp_path: Path) -> None:
    """docs/service/backup.md: back up under load, lose the folder, restore, check, start."""
    folder, saved = tmp_path / "calibration", tmp_path / "backups" / "monday"
    server = Server(folder)
    with server:
        server.caller().create("demand", CONFIG)
        server.caller().predict("demand", id="pending")
        acknowledged: dict[str, Any] = {}
        stop = threading.Event()

        def write(number: int) -> None:
            with contextlib.closing(Caller(server.port)) as caller:
                for t in range(100_000):
                    if stop.is_set():
                        return
                    key = f"c{number}-{t}"
                    acknowledged[key] = caller.predict("demand", id=key)[1]
                    caller.feedback("demand", key, float(t % 3 == 0))

        threads = [threading.Thread(target=write, args=(n,), daemon=True) for n in range(2)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(acknowledged) > 200)
        before = dict(acknowledged)  # 1. back up while clients write
        with pytest.raises(SystemExit) as ended:
            main(["backup", "--data", str(folder), "--out", str(saved)])
        assert ended.value.code == 0
        during = len(acknowledged)
        wait_for(lambda: len(acknowledged) > during + 50)  # writing went on
        stop.set()
        for thread in threads:
            thread.join(60)
        server.kill()
    shutil.rmtree(folder)  # 2. the disk is lost
    with pytest.raises(SystemExit) as ended:  # 3. check the backup
        main(["serve", "--check", str(saved)])
    assert ended.value.code == 0
    shutil.copytree(saved, folder)  # 4. restore
    with Server(folder) as server:  # 5. start
        caller = server.caller()
        for key, answer in before.items():
            assert caller.predict("demand", id=key) == (200, answer)
        summary = caller.call("GET", "/v1/streams/demand")[1]
        assert (summary["consistent"], summary["certificate"]["replay_differs"]) == (True, 0)
        assert len(before) - 2 <= summary["rounds"] <= len(acknowledged)
        assert caller.feedback("demand", "pending", 0.0)[0] == 200
