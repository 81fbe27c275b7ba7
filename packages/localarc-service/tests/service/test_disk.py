"""A disk that is full or read-only: a clear 503, nothing acknowledged, and then on it goes."""

from __future__ import annotations

import contextlib
import resource
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.service_in_thread import wait_for
from service.service_process import PATIENCE, Caller, Server, failed_start

pytestmark = pytest.mark.service

CONFIG: dict[str, Any] = {"alpha": 0.1, "kernel": {"length_scale": 0.5}, "features": 2}
UNLIMITED = resource.RLIM_INFINITY


def mounted(folder: Path, *options: str) -> bool:
    words = ["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)]
    return subprocess.run(words, capture_output=True).returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB, where the test may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mounted(disk, "-o", "size=2m"):
        pytest.skip("mounting a small disk takes root; the quota test covers the same ground")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(caller: Caller, first: int, most: int) -> tuple[dict[str, Any], int, Any]:
    """Predict until the status is not 200: the responses, and the error."""
    received: dict[str, Any] = {}
    for t in range(first, first + most):
        status, answer = caller.predict("s", id=f"p{t}", x=[t % 7 / 7, t % 11 / 11])
        if status != 200:
            return received, status, answer
        received[f"p{t}"] = answer
    raise AssertionError(f"{most} predictions found room")


def check_a_disk_that_fails_for_a_while(
    server: Server, break_it: Callable[[], None], repair_it: Callable[[], None]
) -> None:
    caller = server.caller()
    assert caller.create("s", CONFIG)[0] == 201
    received: dict[str, Any] = {}
    for t in range(20):
        received[f"p{t}"] = caller.predict("s", id=f"p{t}", x=[t % 7 / 7, t % 11 / 11])[1]
    assert caller.feedback("s", "p0", 1.0)[0] == 200
    state = caller.state("s")
    break_it()
    more, status, answer = fill(caller, 20, 100_000)
    received |= more
    assert (status, answer["title"]) == (503, "Service Unavailable")
    assert answer["detail"].startswith("cannot write to the data folder: ")
    assert caller.feedback("s", "p1", 1.0)[0] == 503
    assert caller.create("t", CONFIG)[0] == 503
    assert caller.predict("s", x=[0.5, 0.5])[0] == 503
    assert caller.call("GET", "/readyz")[0] == 503
    assert caller.call("GET", "/livez")[0] == 200
    summary = caller.call("GET", "/v1/streams/s")[1]  # reads still work
    assert (summary["predictions"], summary["rounds"]) == (len(received), 1)
    assert caller.state("s") == state
    repair_it()
    until = time.monotonic() + PATIENCE
    while caller.feedback("s", "p1", 1.0)[0] != 200:
        assert time.monotonic() < until
    assert caller.predict("s", id="new", x=[0.5, 0.5])[0] == 200
    assert caller.call("GET", "/readyz")[0] == 200
    state = caller.state("s")
    server.kill()
    server.start()
    caller = server.caller()
    assert caller.state("s") == state
    for t in range(0, len(received), 97):
        body = {"id": f"p{t}", "x": [t % 7 / 7, t % 11 / 11]}
        assert caller.predict("s", **body) == (200, received[f"p{t}"])
    assert caller.call("GET", "/v1/streams/s")[1]["predictions"] == len(received) + 1


def test_the_service_survives_a_full_disk(small_disk: Path) -> None:
    ballast = small_disk / "ballast"

    def break_it() -> None:
        ballast.write_bytes(bytes(1_000_000))

    options = "--max-pending", "1000000"
    with Server(small_disk / "data", *options) as server:
        check_a_disk_that_fails_for_a_while(server, break_it, ballast.unlink)


@pytest.mark.parametrize("end", [Server.stop, Server.kill], ids=["stopped", "killed"])
def test_on_a_full_disk_the_service_starts_and_reads(
    small_disk: Path, end: Callable[[Server], object]
) -> None:
    server = Server(small_disk / "data")
    with server:
        caller = server.caller()
        caller.create("s", CONFIG)
        received = caller.predict("s", id="one", x=[0.5, 0.5])
        end(server)
    ballast = small_disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    server.start(wait=False)
    assert server.read_line().endswith(f":{server.port}\n")
    with contextlib.closing(server.caller()) as caller:
        wait_for(lambda: caller.call("GET", "/v1/streams/s")[0] == 200)
        assert caller.predict("s", id="two", x=[0.5, 0.5])[0] == 503
        ballast.unlink()
        wait_for(lambda: caller.call("GET", "/readyz")[0] == 200)
        assert caller.predict("s", id="one", x=[0.5, 0.5]) == received
        assert caller.predict("s", id="two", x=[0.5, 0.5])[0] == 200
        with contextlib.closing(sqlite3.connect(small_disk / "data" / "log.sqlite")) as database:
            assert database.execute("SELECT count(*) FROM events").fetchone()  # a backup can read
    assert server.stop() == 0


@pytest.mark.parametrize("size", [300_000, 0], ids=["some room", "no byte can be written"])
def test_the_service_survives_a_limit_on_file_size(tmp_path: Path, size: int) -> None:
    options = "--max-pending", "1000000"
    with Server(tmp_path / "data", *options) as server:

        def limit(size: int) -> None:
            assert server.process is not None
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, UNLIMITED))

        check_a_disk_that_fails_for_a_while(server, lambda: limit(size), lambda: limit(UNLIMITED))


def test_a_read_only_disk_prevents_startup_and_loses_nothing(small_disk: Path) -> None:
    def remount(how: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{how}", str(small_disk)], check=True)

    server = Server(small_disk / "data")
    with server:
        caller = server.caller()
        caller.create("s", CONFIG)
        received = caller.predict("s", id="one", x=[0.5, 0.5])
    remount("ro")
    assert "Read-only file system" in failed_start(small_disk / "data")
    remount("rw")
    with server:
        assert server.caller().predict("s", id="one", x=[0.5, 0.5]) == received


def test_a_folder_that_cannot_be_written_prevents_startup(tmp_path: Path) -> None:
    for folder in (Path("/proc/localarc"), Path("/sys/kernel/localarc")):
        said = failed_start(folder)
        assert said.startswith("localarc: /")
        assert said.count("\n") == 1
    file = tmp_path / "file"
    file.write_text("here already")
    assert "localarc: " in failed_start(file)


def test_a_file_that_is_no_database_prevents_startup(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_bytes(b"this is no database" * 100)
    assert "cannot be used: file is not a database" in failed_start(tmp_path)
