"""What workers share: quotas, the names of streams, a lock, why they may not own their streams."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from localarc_client.wire.config import ArcConfig
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.streams import lifecycle
from localarc_service.streams.manager import StreamManager
from localarc_service.workers.directory import SharedDirectory
from localarc_service.workers.shared_lock import SharedLock
from localarc_service.workers.shared_text import SharedText
from service.service_in_thread import Clock

CONFIG = ArcConfig(alpha=0.1, features=0)

# A process of its own forks four workers, which all do `job()` and report a number.
FORKS = """
import os
from pathlib import Path
from localarc_service.access.tokens import Tokens
from localarc_service.access.counts import AccessCounts
from localarc_service.access.token import Scope, Token
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.streams.manager import StreamManager
from localarc_service.workers.directory import SharedDirectory
from localarc_service.workers.shared_lock import SharedLock
from localarc_client.wire.config import ArcConfig

def quota(index):
    admitted = 0
    for _ in range(8000):
        try:
            tokens.admit(eu)
            admitted += 1
        except ApiError as error:
            assert error.status == 429
    return admitted

def streams(index):
    manager = StreamManager(Limits(streams=50), lambda: 0.0)
    manager.directory = SharedDirectory(Path({folder!r}), index, 4, names)
    config = ArcConfig(alpha=0.1, features=0)
    created = 0
    for number in range(30):
        try:
            manager.create(f"s{{index}}-{{number}}", config)
            created += 1
        except ApiError as error:
            assert error.status == 429, error.detail
        manager.publish_names()
    return created

def turns(index):
    directory = SharedDirectory(Path({folder!r}), index, 4, names)
    counter = Path({folder!r}, "counter")
    for _ in range(500):
        with directory.locked():
            counter.write_text(str(int(counter.read_text()) + 1))
    return 0

eu = Token("eu", Scope.READ, b"digest", requests=8000.0)
tokens = Tokens([eu], steady_clock=lambda: 1.0, counts=AccessCounts(SharedLock(60.0)))
names = SharedLock(60.0)
for index in range(4):
    SharedDirectory(Path({folder!r}), index, 4, names).publish([])
Path({folder!r}, "counter").write_text("0")
pipes, (waiting, start) = [], os.pipe()
for index in range(4):
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(start)
        os.read(waiting, 1)  # until all are there
        os.write(write, str({job}(index)).encode())
        os._exit(0)
    os.close(write)
    pipes.append(read)
os.close(start)
total = sum(int(os.read(read, 100)) for read in pipes)
print(total, Path({folder!r}, "counter").read_text())
"""


@pytest.mark.service
@pytest.mark.parametrize(
    ("job", "expected"), [("quota", "8000 0"), ("streams", "50 0"), ("turns", "0 2000")]
)
def test_limits_are_those_of_all_workers_at_the_same_moment(
    tmp_path: Path, job: str, expected: str
) -> None:
    script = FORKS.format(folder=str(tmp_path), job=job)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{expected}\n", "")


def two_managers(folder: Path, limit: int) -> list[StreamManager]:
    """Those of two workers, which have loaded their streams."""
    made = [StreamManager(Limits(streams=limit), Clock(0.0)) for _ in range(2)]
    for index, manager in enumerate(made):
        manager.directory = SharedDirectory(folder, index, 2, SharedLock(1.0))
        manager.begin({})
        manager.publish_names()
    return made


def test_streams_of_other_workers_count_towards_the_limit(tmp_path: Path) -> None:
    one, two = two_managers(tmp_path, 3)
    for manager, name in ((one, "a"), (two, "b"), (one, "c")):
        manager.create(name, CONFIG)
    for manager in (one, two):
        with pytest.raises(ApiError, match="limit of 3 streams"):
            manager.create("d", CONFIG)
    assert one.create("a", CONFIG)[0] == 200  # a retry is no new stream
    one.publish_names()
    lifecycle.delete(one, "a")
    with pytest.raises(ApiError, match="limit of 3 streams"):
        two.create("d", CONFIG)  # the deletion is not on disk
    one.publish_names()
    assert two.create("d", CONFIG)[0] == 201


def test_a_creation_that_fails_makes_room_again(tmp_path: Path) -> None:
    one, two = two_managers(tmp_path, 1)
    one.reserve("a")
    with pytest.raises(ApiError, match="limit of 1 streams"):
        two.create("b", CONFIG)
    one.publish_names()
    assert two.create("b", CONFIG)[0] == 201


def test_no_stream_is_created_while_a_worker_does_not_know_its_own(tmp_path: Path) -> None:
    one, two = two_managers(tmp_path, 3)
    two.directory.withdraw()
    with pytest.raises(ApiError, match="are being loaded") as raised:
        one.create("a", CONFIG)
    assert (raised.value.status, raised.value.retry_after) == (503, 1)
    two.names_changed = True
    two.publish_names()
    assert one.create("a", CONFIG)[0] == 201


def test_names_that_cannot_be_written_stop_creations_and_nothing_else(tmp_path: Path) -> None:
    one, two = two_managers(tmp_path, 3)
    one.create("a", CONFIG)
    (tmp_path / "names-0.draft").mkdir()  # as a full disk
    one.publish_names()
    with pytest.raises(ApiError, match="are being loaded"):
        two.create("b", CONFIG)
    (tmp_path / "names-0.draft").rmdir()
    one.publish_names()  # with the next commit
    assert two.create("b", CONFIG)[0] == 201
    (tmp_path / "names-1").unlink()
    (tmp_path / "names-1").mkdir()
    with pytest.raises(ApiError, match="cannot be written for other workers") as raised:
        two.reserve("c")
    assert raised.value.status == 503


def test_a_lock_that_another_process_keeps_is_given_up() -> None:
    script = """
import os, signal, time
from localarc_service.workers.shared_lock import SharedLock
lock = SharedLock(0.05)
holder = os.fork()
if holder == 0:
    with lock:
        os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(holder, os.WUNTRACED)
with lock as locked:
    print(locked)
os.kill(holder, signal.SIGKILL)
os.waitpid(holder, 0)
with lock as locked:
    print(locked)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\nTrue\n", "")


def test_a_shared_text_is_the_latest_one_and_not_endless() -> None:
    text = SharedText("standby: another process serves these streams")
    assert text.read().startswith("standby")
    text.write("ü" * 2000)
    assert text.read() == "ü" * 512
    text.write("")
    assert text.read() == ""
