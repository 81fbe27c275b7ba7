"""A data folder that is deleted or replaced under a service: a clear 503, nothing acknowledged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from localarc_service.server import FolderLock
from localarc_service.storage.held_files import HeldFile, HeldFiles
from service.conftest import Start
from service.service_in_thread import Inside, wait_for
from service.service_process import Server


def beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}-elsewhere")


def delete_all(folder: Path) -> None:
    shutil.rmtree(folder)


def rename(folder: Path) -> None:
    folder.rename(beside(folder))


def replace_all(folder: Path) -> None:
    """As a restore from a backup does."""
    copy = beside(folder)
    shutil.copytree(folder, copy)
    shutil.rmtree(folder)
    copy.rename(folder)


def replace_database(folder: Path) -> None:
    replace_file(folder / "log.sqlite")


def delete_log(folder: Path) -> None:
    """Commits would go on into a file that nobody reads again."""
    (folder / "log.sqlite-wal").unlink()


def replace_lock(folder: Path) -> None:
    replace_file(folder / "lock")


def replace_file(path: Path) -> None:
    copy = path.with_name("new")
    shutil.copy(path, copy)
    copy.replace(path)


WAYS = [delete_all, rename, replace_all, replace_database, delete_log, replace_lock]
Way = Callable[[Path], None]


@pytest.fixture
def locked(start: Start, tmp_path: Path) -> Inside:
    """A service with a stream in a folder that it has locked, as `localarc serve` does."""
    service = start(held=[FolderLock(tmp_path).file])
    service.create()
    assert service.predict("before")[0] == 200
    return service


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_is_acknowledged_once_the_files_have_moved(
    locked: Inside, tmp_path: Path, way: Way
) -> None:
    way(tmp_path)
    for t in range(3):
        status, answer = locked.predict(f"p{t}")
        assert status == 503
        assert "the data folder was deleted or replaced; restart the service" in answer["detail"]
    assert locked.feedback("before", 1.0)[0] == 503
    status, answer = locked.http.call("GET", "/readyz")
    assert (status, answer["ready"]) == (503, False)
    assert "restart the service" in answer["detail"]
    assert locked.http.call("GET", "/livez")[0] == 200
    assert locked.get()["predictions"] == 1  # what was acknowledged can still be read


def test_a_service_without_requests_notices_as_well(locked: Inside, tmp_path: Path) -> None:
    delete_all(tmp_path)
    wait_for(lambda: locked.http.call("GET", "/readyz")[0] == 503)


def test_the_way_back_is_a_restart(locked: Inside, tmp_path: Path) -> None:
    rename(tmp_path)
    assert locked.predict("p")[0] == 503
    beside(tmp_path).rename(tmp_path)
    assert locked.predict("p")[0] == 503  # another service may have been there meanwhile


def test_a_moved_service_touches_nothing_of_the_one_that_has_its_place(
    locked: Inside, start: Start, tmp_path: Path
) -> None:
    rename(tmp_path)
    tmp_path.mkdir()
    other = start(held=[FolderLock(tmp_path).file])
    other.create()
    assert other.predict("theirs")[0] == 200
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert locked.predict("p")[0] == 503
    locked.stop()
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    assert other.feedback("theirs", 0.0)[0] == 200


def test_a_file_that_stays_in_its_place_is_no_difference(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    held = HeldFiles([HeldFile.at(path)])
    path.write_bytes(b"two")
    path.chmod(0o600)
    assert held.look() == ""
    replace_file(path)
    assert "another file" in held.look()


@pytest.mark.service
@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_service_on_the_path_is_separate(tmp_path: Path, workers: int) -> None:
    options = "--workers", str(workers)
    folder = tmp_path / "data"
    config = {"alpha": 0.1, "method": "arc"}
    # Loops that are stored in the folder while it is deleted would be in the way.
    elsewhere = {"NUMBA_CACHE_DIR": str(tmp_path / "compiled")}
    with Server(folder, *options, environment=elsewhere) as first:
        caller = first.caller()
        streams = [f"s{k}" for k in range(4)]  # of both workers
        for stream in streams:
            assert caller.create(stream, config)[0] == 201
        shutil.rmtree(folder)
        with Server(folder, *options) as second:
            new = second.caller()
            assert new.create("new", config)[0] == 201
            for t in range(15):
                assert all(caller.predict(each, id=f"p{t}")[0] == 503 for each in streams)
                assert new.predict("new", id=f"p{t}")[0] == 200
            status, answer = caller.call("GET", "/readyz")
            assert (status, "restart the service" in answer["detail"]) == (503, True)
            first.stop()
            assert new.call("GET", "/v1/streams/new")[1]["predictions"] == 15
            assert second.stop() == 0


@pytest.mark.service
def test_the_lock_of_all_workers_is_looked_at_by_each(tmp_path: Path) -> None:
    with Server(tmp_path / "data", "--workers", "2") as server:
        caller = server.caller()
        streams = [f"s{k}" for k in range(4)]
        for stream in streams:
            assert caller.create(stream, {"alpha": 0.1, "method": "arc"})[0] == 201
        replace_lock(tmp_path / "data")
        assert [caller.predict(each)[0] for each in streams] == [503] * 4
