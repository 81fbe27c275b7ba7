"""Damaged data: what is lost is noticed at the next start, and other streams are served."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from localarc.cli import main
from localarc_client.wire.config import ArcConfig
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.limits import Limits
from localarc_service.storage.checksums import row_checksum
from localarc_service.storage.high_water_mark import HighWaterMark
from localarc_service.storage.store import EventStore
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream

TRIALS = 60
Run = Callable[..., tuple[int, str]]


def killed(folder: Path, rounds: int = 40, streams: int = 3) -> dict[str, int]:
    """A folder as a killed service leaves it, and the latest acknowledged seq of each stream."""
    live = folder / "live"
    live.mkdir(parents=True)
    with contextlib.closing(EventStore(live)) as store:
        manager = StreamManager(Limits(), lambda: 1.0)
        for t in range(rounds):
            name = f"s{t % streams}"
            manager.create(name, ArcConfig(0.1))
            manager.predict(name, PredictRequest(id=f"p{t}"))
            manager.feedback(name, f"p{t}", FeedbackRequest(float(t % 2)))
            store.append(manager.uncommitted)
            manager.uncommitted = []
            if t % 16 == 15:
                store.snapshot([manager.streams[name]])
        for path in live.iterdir():
            shutil.copy(path, folder)
    return {name: stream.state.seq for name, stream in manager.streams.items()}


def load(folder: Path) -> tuple[dict[str, Stream], EventStore]:
    with contextlib.closing(EventStore(folder)) as store:
        return store.load(), store


def edit(folder: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "log.sqlite")) as database, database:
        for statement in statements:
            database.execute(statement)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command: its exit status, and what it prints."""

    def begin(*words: str | Path) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out + printed.err

    return begin


def truncate(path: Path, source: random.Random) -> None:
    with path.open("r+b") as file:
        file.truncate(source.randrange(path.stat().st_size))


def flip(path: Path, source: random.Random) -> None:
    with path.open("r+b") as file:
        file.seek(source.randrange(path.stat().st_size))
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ source.randrange(1, 256)]))


def remove(path: Path, source: random.Random) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [truncate, flip, remove])
def test_no_loss_in_a_damaged_write_ahead_log_is_silent(
    tmp_path: Path, damage: Callable[[Path, random.Random], None]
) -> None:
    acknowledged = killed(tmp_path / "killed")
    source = random.Random(damage.__name__)
    lost = 0
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        folder.mkdir()
        for name in "log.sqlite", "log.sqlite-wal", "log.marks":
            shutil.copy(tmp_path / "killed" / name, folder)
        damage(folder / "log.sqlite-wal", source)
        streams, store = load(folder)
        incomplete = {
            name
            for name, seq in acknowledged.items()
            if name not in streams or streams[name].state.seq != seq
        }
        lost += bool(incomplete)
        assert incomplete == store.quarantined.keys()
    assert lost > TRIALS / 2  # or little was damaged


@pytest.mark.slow
def test_streams_are_served_whichever_page_is_damaged(tmp_path: Path) -> None:
    acknowledged = killed(tmp_path, rounds=300, streams=20)
    load(tmp_path)  # moves the write-ahead log into the database
    content = (tmp_path / "log.sqlite").read_bytes()
    served = 0
    for page in range(1, len(content) // 4096):  # the first one says that it is a database
        folder = tmp_path / str(page)
        folder.mkdir()
        shutil.copy(tmp_path / "log.marks", folder)
        start = 4096 * page
        damaged = content[:start] + b"\xa5" * 4096 + content[start + 4096 :]
        (folder / "log.sqlite").write_bytes(damaged)
        streams, store = load(folder)
        complete = {name for name, each in streams.items() if each.state.seq == acknowledged[name]}
        assert complete == acknowledged.keys() - store.quarantined.keys()
        served += len(complete)
        for kept in folder.glob("damaged-*"):
            assert (kept / "log.sqlite").read_bytes() == damaged
        again, _ = load(folder)
        assert again.keys() == streams.keys()
    assert served > 0.5 * page * len(acknowledged)


@pytest.mark.parametrize(
    ("statement", "reason", "missing"),
    [
        ("UPDATE events SET event = replace(event, '1.0', '0.0') WHERE seq = 7", "event 7 is", 4),
        ("UPDATE events SET event = x'00' WHERE seq = 7", "event 7 is", 4),
        ("DELETE FROM events WHERE seq = 10", "event 10 is damaged or missing", 1),
        ("DELETE FROM events WHERE seq BETWEEN 3 AND 5", "events 3 to 5 are", 8),
        ("UPDATE events SET stream = 'c' WHERE seq = 7", "event 7 is damaged or missing", 4),
    ],
)
def test_a_damaged_event_puts_its_stream_in_quarantine(
    tmp_path: Path, statement: str, reason: str, missing: int
) -> None:
    acknowledged = killed(tmp_path, rounds=10, streams=2)
    edit(tmp_path, f"{statement} AND stream = 's0'")
    streams, store = load(tmp_path)
    assert streams["s1"].state.seq == acknowledged["s1"]
    found = store.quarantined["s0"]
    assert reason in found.reason
    assert found.missing == missing
    assert found.readable is not None
    assert found.readable.state.seq == acknowledged["s0"] - missing


def test_a_damaged_snapshot_is_replaced_by_events_that_reach_back_to_the_creation(
    tmp_path: Path,
) -> None:
    acknowledged = killed(tmp_path, rounds=20, streams=2)
    edit(tmp_path, "UPDATE snapshots SET state = zeroblob(100)")
    streams, store = load(tmp_path)
    assert {name: stream.state.seq for name, stream in streams.items()} == acknowledged
    assert not store.quarantined


def test_a_damaged_snapshot_puts_its_stream_in_quarantine(tmp_path: Path) -> None:
    killed(tmp_path, rounds=20, streams=2)
    edit(
        tmp_path,
        "DELETE FROM events WHERE stream = 's1' AND id <= (SELECT last_event FROM snapshots)",
        "UPDATE snapshots SET state = zeroblob(length(state))",
    )
    streams, store = load(tmp_path)
    assert ([*streams], [*store.quarantined]) == (["s0"], ["s1"])
    found = store.quarantined["s1"]
    assert (found.readable, found.reason) == (None, "its snapshot is damaged")


def test_a_stream_that_is_gone_is_named(tmp_path: Path) -> None:
    acknowledged = killed(tmp_path, rounds=10, streams=2)
    edit(
        tmp_path, *(f"DELETE FROM {table} WHERE stream = 's1'" for table in ("events", "snapshots"))
    )
    streams, store = load(tmp_path)
    assert [*streams] == ["s0"]
    found = store.quarantined["s1"]
    assert (found.reason, found.missing) == ("events 0 to 10 are damaged or missing", 11)
    assert acknowledged["s1"] == 10


def multiply_threshold(folder: Path, factor: float) -> None:
    """Change the threshold of one event as if another machine had returned it."""
    with contextlib.closing(sqlite3.connect(folder / "log.sqlite")) as database, database:
        query = "SELECT id, event FROM events WHERE stream = 's0' AND seq = 9"
        number, data = database.execute(query).fetchone()
        event = json.loads(data)
        event["threshold"] *= factor
        data = json.dumps(event).encode()
        row = data, row_checksum("s0", 9, data), number
        database.execute("UPDATE events SET event = ?, checksum = ? WHERE id = ?", row)


def test_a_stream_that_was_rounded_differently_is_served(tmp_path: Path) -> None:
    killed(tmp_path, rounds=14, streams=2)
    multiply_threshold(tmp_path, 1 + 1e-12)
    streams, store = load(tmp_path)
    assert (streams["s0"].replay_rounded, streams["s0"].replay_differs) == (1, 0)
    assert not store.quarantined


def test_thresholds_that_differ_by_more_than_rounding_are_damage_until_accepted(
    tmp_path: Path, run: Run
) -> None:
    acknowledged = killed(tmp_path, rounds=14, streams=2)
    multiply_threshold(tmp_path, 1.001)
    for _ in range(2):
        streams, store = load(tmp_path)
        assert [*streams] == ["s1"]
        reason = "1 threshold(s) differ on replay by more than rounding"
        assert (store.quarantined["s0"].reason, store.quarantined["s0"].missing) == (reason, 0)
    assert run("repair", "--data", tmp_path, "--accept", "s0")[0] == 0
    streams, store = load(tmp_path)
    assert (streams["s0"].state.seq, streams["s0"].replay_differs) == (acknowledged["s0"], 0)


def test_a_copy_of_the_database_alone_is_opened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    acknowledged = killed(tmp_path, rounds=10, streams=2)
    (tmp_path / "log.marks").unlink()
    for _ in range(2):
        streams, store = load(tmp_path)
        assert {name: stream.state.seq for name, stream in streams.items()} == acknowledged
        assert not store.quarantined
    assert caplog.text.count("high-water mark is missing") == 1  # now there is one


def test_a_damaged_line_of_the_marks_is_told_and_the_others_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    killed(tmp_path, rounds=10, streams=2)
    marks = tmp_path / "log.marks"
    marks.write_bytes(marks.read_bytes().replace(b"s0", b"s9", 1))
    edit(tmp_path, "DELETE FROM events WHERE stream = 's1' AND seq = 10")
    _, store = load(tmp_path)
    assert [*store.quarantined] == ["s1"]
    assert "high-water mark is missing or damaged" in caplog.text


def test_marks_stay_short_and_keep_every_stream(tmp_path: Path) -> None:
    marks = HighWaterMark(tmp_path)
    for t in range(20_000):
        marks.advance(t, {f"s{t % 50}": t})
    with marks.without(["s0"]):
        marks.advance(20_000, {})
    marks.close()
    assert (tmp_path / "log.marks").stat().st_size < 2**16 + 100
    again = HighWaterMark(tmp_path)
    assert (again.streams, again.last_event) == (marks.streams, 20_000)
    assert len(again.streams) == 49


def test_new_marks_are_flushed_to_disk_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, flushed = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(os, "fdatasync", lambda file: flushed.append(now[0]))
    marks = HighWaterMark(tmp_path)
    for t in range(1, 100):
        now[0] = 0.1 * t
        if t < 50:
            marks.advance(t, {"s": t})
        marks.flush()
    marks.close()
    assert flushed == pytest.approx([1.0, 2.0, 3.0, 4.0, 5.0, 9.9])


def test_a_mark_that_cannot_be_written_is_written_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = HighWaterMark(tmp_path)
    marks.advance(1, {"a": 1})

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(HighWaterMark, "_append", fail)
        marks.advance(2, {"b": 1})
    assert HighWaterMark(tmp_path).streams == {"a": 1}
    marks.advance(3, {"a": 2})
    marks.close()
    assert HighWaterMark(tmp_path).streams == {"a": 2, "b": 1}


def test_a_check_names_what_is_damaged_and_changes_nothing(tmp_path: Path, run: Run) -> None:
    killed(tmp_path / "data", rounds=10, streams=2)
    before = content(tmp_path / "data")
    code, told = run("serve", "--check", tmp_path / "data")
    assert (code, content(tmp_path / "data")) == (0, before)
    assert "s0: ok (event 10, 5 rounds, 0 pending)" in told
    assert "2 stream(s), 0 damaged; 22 event(s) in the log" in told
    (tmp_path / "data" / "log.sqlite-wal").unlink()
    before = content(tmp_path / "data")
    code, told = run("serve", "--check", tmp_path / "data")
    assert (code, content(tmp_path / "data")) == (1, before)
    assert "s0: events 0 to 10 are damaged or missing; 11 acknowledged event(s)" in told


def test_a_check_tells_what_is_no_data_folder(tmp_path: Path, run: Run) -> None:
    code, told = run("serve", "--check", tmp_path)
    assert (code, "is not a data folder" in told) == (2, True)
    (tmp_path / "log.sqlite").write_bytes(b"this is no database" * 100)
    assert run("serve", "--check", tmp_path)[0] == 1


def test_streams_are_repaired_while_no_service_runs(tmp_path: Path, run: Run) -> None:
    killed(tmp_path, rounds=12, streams=3)
    edit(
        tmp_path,
        "DELETE FROM events WHERE stream = 's0' AND seq > 6",
        "DELETE FROM events WHERE stream = 's1' AND seq < 3",
    )
    code, told = run("repair", "--data", tmp_path, "--accept", "s1")
    assert (code, "nothing of stream 's1' could be read: drop it." in told) == (2, True)
    code, told = run("repair", "--data", tmp_path, "--accept-all", "--drop", "s1")
    assert (code, told) == (0, "s0: accepted, continues after event 6\ns1: dropped\n")
    streams, store = load(tmp_path)
    assert {name: stream.state.seq for name, stream in streams.items()} == {"s0": 6, "s2": 8}
    assert not store.quarantined
