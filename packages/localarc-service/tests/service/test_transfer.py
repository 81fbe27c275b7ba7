"""Export and import: streams move between stores bit for bit, all of them or none."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import sqlite3
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from localarc.cli import main
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.limits import Limits
from localarc_service.server import FolderLock
from localarc_service.storage import export_file
from localarc_service.storage.export_file import EXPORT_VERSION, Entry, ExportError, Manifest
from localarc_service.storage.interface import Store
from localarc_service.storage.opening import open_store
from localarc_service.storage.store import EventStore
from localarc_service.storage.transfer import (
    Found,
    import_streams,
    read_database,
    read_folders,
)
from localarc_service.storage.transfer import export_streams as export_found
from localarc_service.stored.format import VERSION
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream
from service.test_damage import edit
from service.test_golden import GOLDEN, opened
from service.test_store import manager_with

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address


@contextlib.contextmanager
def store_in(folder: Path) -> Iterator[EventStore]:
    folder.mkdir(exist_ok=True)
    with contextlib.closing(EventStore(folder)) as store:
        yield store


def export_streams(store: Store, path: Path, names: Collection[str] = ()) -> list[Stream]:
    """Export from an open store."""
    return export_found(Found(store.load(), store.quarantined), path, names)


def snapshots(streams: dict[str, Stream]) -> dict[str, bytes]:
    return {name: each.snapshot() for name, each in streams.items()}


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """An export of two streams with pending predictions."""
    with store_in(tmp_path / "data") as store:
        manager = manager_with(store)
        manager.predict("a", PredictRequest(id="pending"))
        store.append(manager.uncommitted)
        export_streams(store, tmp_path / "streams.zip")
    return tmp_path / "streams.zip"


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, VERSION])
def test_streams_of_every_method_are_the_same_after_the_import(
    tmp_path: Path, version: int
) -> None:
    (tmp_path / "golden").mkdir()
    with opened(version, tmp_path / "golden") as store:
        export_streams(store, tmp_path / "streams.zip")
        expected = snapshots(store.load())
    with store_in(tmp_path / "other") as store:
        import_streams(store, tmp_path / "streams.zip")
    with store_in(tmp_path / "other") as store:
        found = store.load()
        assert snapshots(found) == expected
        assert not store.quarantined
        assert store.unsaved == {}


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_export_of_an_older_format_is_converted(tmp_path: Path, version: int) -> None:
    rows = snapshot_rows(GOLDEN / f"v{version}" / "log.sqlite")
    entries = [Entry(name, 0, 0, len(data), sha256(data)) for name, data in rows.items()]
    manifest = Manifest(EXPORT_VERSION, version, "an older release", entries)
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as archive:
        archive.writestr("manifest.json", msgspec.json.encode(manifest))
        for name, data in rows.items():
            archive.writestr(f"streams/{name}", data)
    with (tmp_path / "old.zip").open("rb") as file:
        found = {stream.name: stream.snapshot() for stream in export_file.read(file)}
    with opened(version, tmp_path):
        pass  # a start converts them, too
    expected = {
        name: Stream.from_snapshot(data).snapshot()
        for name, data in snapshot_rows(tmp_path / "log.sqlite").items()
    }
    assert found == expected
    assert found


def snapshot_rows(path: Path) -> dict[str, bytes]:
    with contextlib.closing(sqlite3.connect(path)) as database:
        return dict(database.execute("SELECT stream, state FROM snapshots"))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_an_imported_stream_continues_where_it_was(tmp_path: Path, exported: Path) -> None:
    thresholds = []
    for folder in ("data", "other"):
        with store_in(tmp_path / folder) as store:
            if folder == "other":
                import_streams(store, exported)
            manager = manager_with(store, names="")
            manager.begin(store.load())
            manager.feedback("a", "pending", FeedbackRequest(1.0))
            answer = manager.predict("a", PredictRequest(id="next"))
            store.append(manager.uncommitted)
            thresholds.append((answer, store.load()["a"].snapshot()))
    assert thresholds[0] == thresholds[1]


@pytest.mark.service
def test_streams_move_to_a_database_and_back_while_it_is_in_use(
    tmp_path: Path, exported: Path, address: Address
) -> None:
    with contextlib.closing(open_store(address)) as store:
        import_streams(store, exported)
        manager = StreamManager(Limits(), lambda: 1.0)
        manager.begin(store.load())
        manager.feedback("a", "pending", FeedbackRequest(1.0))
        store.append(manager.uncommitted)
        export_found(read_database(address), tmp_path / "back.zip")  # the owner is still there
        with (
            contextlib.closing(open_store(address)) as other,
            pytest.raises(ValueError, match="in use by another process"),
        ):
            import_streams(other, exported, replace=True)
        expected = snapshots(manager.streams)
    with store_in(tmp_path / "other") as store:
        import_streams(store, tmp_path / "back.zip")
        assert snapshots(store.load()) == expected


@pytest.mark.service
def test_a_database_without_streams_is_explained(address: Address) -> None:
    with pytest.raises(ValueError, match="the database has no streams"):
        read_database(address)


def test_streams_of_all_workers_are_exported(tmp_path: Path) -> None:
    folders = [tmp_path / f"worker-{index}" for index in range(2)]
    for folder, name in zip(folders, "ab", strict=True):
        with store_in(folder) as store:
            manager_with(store, name)
    assert [each.name for each in export_found(read_folders(folders), tmp_path / "x.zip")] == [
        "a",
        "b",
    ]
    (tmp_path / "workers.json").write_text('{"workers": 2}')
    with pytest.raises(SystemExit) as ended:
        main(["import", str(tmp_path / "x.zip"), "--data", str(tmp_path)])
    assert ended.value.code == 2


def test_some_streams_can_be_moved(tmp_path: Path, exported: Path) -> None:
    with store_in(tmp_path / "data") as store:
        export_streams(store, tmp_path / "b.zip", ["b", "b"])
        with pytest.raises(ValueError, match="there is no stream 'z'"):
            export_streams(store, tmp_path / "z.zip", ["z"])
    assert not (tmp_path / "z.zip").exists()
    with store_in(tmp_path / "one") as store:
        assert [each.name for each in import_streams(store, tmp_path / "b.zip")] == ["b"]
    with store_in(tmp_path / "two") as store:
        import_streams(store, exported, ["a"])
        assert list(store.load()) == ["a"]
        with pytest.raises(ExportError, match="has no stream z"):
            import_streams(store, exported, ["b", "z"])
        assert list(store.load()) == ["a"]


def test_an_existing_name_stops_the_whole_import_unless_it_is_replaced(
    tmp_path: Path, exported: Path
) -> None:
    with store_in(tmp_path / "other") as store:
        manager_with(store, "bc", rounds=3)
        before = snapshots(store.load())
        with pytest.raises(ValueError, match="a stream named 'b': nothing was imported"):
            import_streams(store, exported)
        assert snapshots(store.load()) == before
        import_streams(store, exported, replace=True)
        after = snapshots(store.load())
    with store_in(tmp_path / "data") as store:
        assert after == {**snapshots(store.load()), "c": before["c"]}


def test_a_failed_commit_imports_nothing(
    tmp_path: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = EventStore._insert_snapshot

    def fail(self: EventStore, stream: Stream) -> None:
        if stream.name == "b":
            raise sqlite3.OperationalError("database or disk is full")
        insert(self, stream)

    with store_in(tmp_path / "other") as store:
        monkeypatch.setattr(EventStore, "_insert_snapshot", fail)
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            import_streams(store, exported)
        assert store.load() == {}


def test_a_damaged_stream_is_not_exported(tmp_path: Path, exported: Path) -> None:
    edit(tmp_path / "data", "DELETE FROM events WHERE stream = 'b' AND seq = 7")
    with store_in(tmp_path / "data") as store:
        with pytest.raises(ValueError, match="stream 'b' is damaged: event 7"):
            export_streams(store, tmp_path / "more.zip")
        assert [each.name for each in export_streams(store, tmp_path / "a.zip", ["a"])] == ["a"]


def test_no_changed_byte_is_imported(exported: Path) -> None:
    content = exported.read_bytes()
    expected = snapshots({each.name: each for each in export_file.read(io.BytesIO(content))})
    for position in range(0, len(content), 7):
        changed = bytearray(content)
        changed[position] ^= 0x5A
        with contextlib.suppress(ExportError):
            streams = list(export_file.read(io.BytesIO(bytes(changed))))
            # Names, dates and counts of a ZIP archive are stored twice, or mean nothing.
            assert snapshots({each.name: each for each in streams}) == expected, position
    for length in range(0, len(content), 997):
        with pytest.raises(ExportError):
            list(export_file.read(io.BytesIO(content[:length])))


def rewritten(path: Path, **changes: object) -> Path:
    """An export with another manifest."""
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            data = source.read(name)
            if name == "manifest.json":
                data = json.dumps(json.loads(data) | changes).encode()
            archive.writestr(name, data)
    return target


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"format": VERSION + 1}, "Import it with a newer release"),
        ({"export": 2}, "Import it with a newer release"),
        ({"streams": [{}]}, "the manifest of the export cannot be read"),
    ],
)
def test_what_cannot_be_imported_is_explained(
    exported: Path, changes: dict[str, object], expected: str
) -> None:
    with rewritten(exported, **changes).open("rb") as file, pytest.raises(ExportError) as raised:
        list(export_file.read(file))
    assert expected in str(raised.value)


def test_a_stream_that_differs_from_its_checksum_is_rejected(exported: Path) -> None:
    with zipfile.ZipFile(exported) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    manifest["streams"][0]["sha256"] = manifest["streams"][1]["sha256"]
    changed = rewritten(exported, streams=manifest["streams"])
    with (
        changed.open("rb") as file,
        pytest.raises(ExportError, match="stream 'a' is damaged: its checksum differs"),
    ):
        list(export_file.read(file))


def test_a_compressed_export_is_rejected(exported: Path) -> None:
    target = io.BytesIO()
    with (
        zipfile.ZipFile(exported) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in source.namelist():
            archive.writestr(name, source.read(name))
    with pytest.raises(ExportError, match="without compression"):
        list(export_file.read(target))


def test_equal_streams_make_equal_files(tmp_path: Path, exported: Path) -> None:
    with store_in(tmp_path / "data") as store:
        export_streams(store, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == exported.read_bytes()


def test_the_commands_move_streams_of_a_folder_in_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, other, file = tmp_path / "data", tmp_path / "other", tmp_path / "streams.zip"

    def run(*words: str | Path) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out + printed.err

    with store_in(folder) as store:
        lock = FolderLock(folder)
        manager_with(store)
        assert run("export", "--data", folder, "--out", file) == (
            0,
            "a: event 20, 10 rounds, 0 pending\nb: event 20, 10 rounds, 0 pending\n"
            f"2 stream(s) to {file}\n",
        )
        code, said = run("import", file, "--data", folder)
        assert (code, "is in use by another process" in said) == (2, True)
        lock.release()
    code, said = run("import", file, "--data", other)
    assert (code, said.splitlines()[-1]) == (0, f"2 stream(s) into {other}")
    code, said = run("import", file, "--data", other)
    assert (code, "Pass --replace" in said) == (2, True)
    assert run("import", file, "b", "--data", other, "--replace")[0] == 0
    assert run("import", folder / "log.sqlite", "--data", tmp_path / "third")[0] == 2
    assert run("serve", "--check", other)[0] == 0
