"""Stored data cannot drift: golden data folders of every version open to the same thresholds."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from golden_files import OTHER_ALGORITHM
from localarc import ARC, algorithms
from localarc.kernels import KERNELS
from localarc_client.wire.config import LarcConfig, StreamConfig
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.limits import Limits
from localarc_service.storage import migrations
from localarc_service.storage.store import EventStore
from localarc_service.stored import events
from localarc_service.stored import format as stored_format
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.methods.parts import kernel_of
from localarc_service.streams.state import Point, StreamState
from localarc_service.streams.stream import Stream
from service.golden.make import as_builtins, describe, exact, fields, schema
from service.test_damage import edit

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = range(1, stored_format.VERSION + 1)
HEXADECIMAL = re.compile(r"-?0x[01]\.[0-9a-f]+p[+-]\d+")
each_version = pytest.mark.parametrize("version", VERSIONS)


def expected(version: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"v{version}" / "expected.json").read_text())
    return found


@contextlib.contextmanager
def opened(version: int, folder: Path) -> Iterator[EventStore]:
    shutil.copy(GOLDEN / f"v{version}" / "log.sqlite", folder)
    with contextlib.closing(EventStore(folder)) as store:
        yield store


def load(version: int, folder: Path) -> dict[str, Stream]:
    with opened(version, folder) as store:
        return store.load()


def is_present(version: int, stream: Stream) -> bool:
    """Whether the algorithm that made a folder's stream is the present one; older folders say 1."""
    path, kind = GOLDEN / f"v{version}" / "algorithms.json", type(stream.calibrator).__name__
    made = json.loads(path.read_text()) if path.exists() else {}
    return bool(made.get(kind, 1) == algorithms.number_of(kind))


def without_thresholds(told: dict[str, Any]) -> dict[str, Any]:
    """What holds for the streams of every algorithm: all but what the present one computes."""
    del told["bound"], told["identity_gap"], told["replay_differs"]
    del told["state"]["history"]["observed"]
    for name in ("thresholds", "thresholds_after_20_more_rounds"):
        told[name] = len(told[name])
    return told


def renamed(old: dict[str, Any]) -> dict[str, Any]:
    """The expectations of version 1, with the names of version 2."""
    book = old.pop("book")
    book["newest_learned"] = book.pop("newest_learnt")
    book["history"] = book.pop("series")
    config = book["config"]
    if config["kernel"] is not None:
        config["kernel"]["denominator"] = config["kernel"].pop("length_scale")
    return old | {"state": book}


def with_methods(old: dict[str, Any]) -> dict[str, Any]:
    """The expectations of version 2, with the fields of version 3."""
    state = old["state"]
    config = state["config"]
    config |= {"method": "arc" if config["kernel"] is None else "larc"}
    config |= dict.fromkeys(("floor", "unit"))
    config |= {"limits": [None, None], "promise": "both", "evenness": (1.0).hex()}
    for pending in state["pending"].values():
        pending["ticket"] = None
    for answered in state["answered"].values():
        answered |= dict.fromkeys(("score", "outcome"))
    return old


def with_a_watch(old: dict[str, Any]) -> dict[str, Any]:
    """The expectations of version 3, with the fields of version 4."""
    config = old["state"]["config"]
    alpha, bound = (float.fromhex(config[name]) for name in ("alpha", "loss_bound"))
    config |= {"feature_names": None, "window": 1000}
    config |= {"tolerance": min(0.02 * bound, (bound - alpha) / 2).hex()}
    return old


def with_a_life(old: dict[str, Any]) -> dict[str, Any]:
    """The expectations of version 4, with the fields of version 5."""
    state = old["state"]
    state["config"] |= {"labels": {}, "retention": None}
    for answered in state["answered"].values():
        answered["at"] = (0.0).hex()
    return old | {"state": state | {"first_config": None}}


def with_recoveries(old: dict[str, Any]) -> dict[str, Any]:
    """The expectations of version 5, with the fields of version 6."""
    state = old["state"]
    for config in state["config"], state["first_config"] or {}:
        config["stale_after"] = (900.0).hex()
    for pending in state["pending"].values():
        pending["informed"] = True
    return old | {"state": state | {"uninformed": 0, "uninformed_loss": (0.0).hex()}}


def without_recoveries(watch: dict[str, Any]) -> dict[str, Any]:
    """A watch as version 5 would have it."""
    for monitor in watch["monitors"].values():
        assert (monitor.pop("stale_after"), monitor.pop("recovered")) == ((900.0).hex(), None)
        del monitor["recovery"]
    return watch


def by_method(old: dict[str, Any], stream: Stream) -> dict[str, Any]:
    """The expectations of version 6, with the configs of version 7."""
    for name in "config", "first_config":
        known, config = old["state"][name], getattr(stream.state, name)
        if known is not None:
            old["state"][name] = of_one_method(known, config)
    return old


def of_one_method(known: dict[str, Any], config: StreamConfig) -> dict[str, Any]:
    """The fields of a method. The automatic memory made a choice, which calibrators confirm."""
    found = exact(fields(config))
    new = {field: known[field] for field in found}
    if isinstance(config, LarcConfig):
        assert exact(kernel_of(config.kernel).denominator) == known["kernel"]["denominator"]
        same = {field: known["kernel"][field] for field in ("kind", "scale", "shape")}
        new["kernel"] = found["kernel"] | same
    for part in "memory", "set":
        if new.get(part) is not None:
            kept = found if known[part]["kind"] == "auto" else known
            new[part] = {field: kept[part][field] for field in found[part]}
    return new


def assert_same(found: Any, wanted: Any, place: str) -> None:
    """Equal; thresholds, which compiled loops may round differently, to nine digits.

    How much memory a stream takes is no part of what is stored.
    """
    if isinstance(wanted, dict):
        assert set(found) == set(wanted), place
        for name, value in wanted.items():
            assert_same(found[name], value, f"{place}.{name}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), place
        for number, value in enumerate(wanted):
            assert_same(found[number], value, f"{place}[{number}]")
    elif found != wanted and not place.endswith((".replay_differs", ".memory_bytes")):
        assert isinstance(wanted, str), place
        assert HEXADECIMAL.fullmatch(wanted), place
        expected_value = pytest.approx(float.fromhex(wanted), rel=1e-9, abs=1e-9)
        assert float.fromhex(found) == expected_value, place


@pytest.mark.slow
@each_version
def test_a_golden_folder_opens_to_the_same_streams(tmp_path: Path, version: int) -> None:
    streams = load(version, tmp_path)
    wanted = expected(version)
    assert set(streams) == set(wanted)
    for name, stream in streams.items():
        known = wanted[name]
        del known["sent"]
        known = renamed(known) if version == 1 else known
        found = describe(stream)
        if version < 3:
            known = with_methods(known)
            for pending in found["state"]["pending"].values():
                del pending["scores"]  # of events; those of snapshots were not stored
        if version < 4:
            known = with_a_watch(known)
            del found["watch"]  # it starts with the upgrade
        if version < 5:
            known = with_a_life(known)
            del found["state"]["max_delay"], found["state"]["imported"]
            for answered in found["state"]["answered"].values():
                answered["at"] = (0.0).hex()  # those after the snapshot have one
        if version < 6:
            known = with_recoveries(known)
        if version < 7:
            known = by_method(known, stream)
        if 4 <= version < 6:
            found["watch"] = without_recoveries(found["watch"])
        if not is_present(version, stream):
            found, known = without_thresholds(found), without_thresholds(known)
        try:
            assert_same(found, known, name)
        except AssertionError as error:
            kind = type(stream.calibrator).__name__
            error.add_note(OTHER_ALGORITHM.format(path=f"v{version}", kind=kind))
            raise


def test_events_of_an_older_algorithm_may_replay_to_other_thresholds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ARC.threshold
    monkeypatch.setattr(ARC, "threshold", lambda cal, x, groups=(): 1.01 * before(cal, x))
    monkeypatch.setitem(algorithms.CHANGES, "running constant", 0)
    lost = expected(6).keys() - load(6, tmp_path).keys()
    assert lost == {"arc", "recovered", "recovered-events"}  # as of damaged events
    monkeypatch.setitem(algorithms.CHANGES, "running constant", 1)
    assert load(6, tmp_path).keys() == expected(6).keys()


@each_version
def test_retries_across_an_upgrade_get_the_same_answer(tmp_path: Path, version: int) -> None:
    manager = StreamManager(Limits(), lambda: 2e9)
    manager.streams = load(version, tmp_path)
    answered = 0
    for name, known in expected(version).items():
        state = manager.streams[name].state
        for sent in known["sent"]["predictions"]:
            request = msgspec.convert(sent["body"], PredictRequest)
            if request.id in state.pending or request.id in state.answered:
                response = exact(as_builtins(manager.predict(name, request)))
                assert response["threshold"] == sent["answer"]["threshold"]
                assert {key: response[key] for key in ("id", "seq")} == {
                    key: sent["answer"][key] for key in ("id", "seq")
                }
                answered += 1
        for sent in known["sent"]["losses"]:
            if sent["id"] in state.answered:
                answer = sent.pop("answer")
                key = sent.pop("id")
                response = manager.feedback(name, key, FeedbackRequest(**sent))
                assert msgspec.to_builtins(response) == answer
    assert manager.uncommitted == []
    assert answered > 150


@each_version
def test_an_opened_golden_folder_is_stored_and_opened_again_exactly(
    tmp_path: Path, version: int
) -> None:
    with opened(version, tmp_path) as store:
        streams = store.load()
        assert store.snapshot(streams.values()) == []
        store.prune()
    with contextlib.closing(EventStore(tmp_path)) as store:
        assert store.events == 0
        again = store.load()
    assert {name: stream.snapshot() for name, stream in again.items()} == {
        name: stream.snapshot() for name, stream in streams.items()
    }


@pytest.mark.parametrize("kind", KERNELS)
def test_every_denominator_of_version_6_stays_exact(kind: str) -> None:
    """Also those that no length scale makes, of calibrators that were imported."""
    with contextlib.closing(sqlite3.connect(GOLDEN / "v6" / "log.sqlite")) as database:
        query = "SELECT event FROM events WHERE stream = 'keep-all' AND seq = 0"
        old = json.loads(database.execute(query).fetchone()[0])
    source = random.Random(kind)
    exact_lengths = 0
    for _ in range(100):
        squares: Any = [10 ** source.uniform(-9, 9) for _ in range(2)]
        old["config"]["features"] = 2
        squares = source.choice([squares, squares[0]])
        old["config"]["kernel"] |= {"kind": kind, "denominator": squares}
        event: Any = events.decode(migrations.upgrade_event(json.dumps(old).encode(), 6))
        kernel = event.config.kernel
        assert kernel_of(kernel) == KERNELS[kind]().replace(squares, kernel.scale)
        exact_lengths += kernel.denominator is None
    assert 0 < exact_lengths < 100


def test_a_migration_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes, version: int) -> bytes:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "upgrade_snapshot", fail)
        with pytest.raises(sqlite3.OperationalError), opened(1, tmp_path):
            pass
    dumps: list[Any] = []
    for folder in (GOLDEN / "v1", tmp_path):
        copy = tmp_path / f"copy-{len(dumps)}.sqlite"
        shutil.copy(folder / "log.sqlite", copy)
        with contextlib.closing(sqlite3.connect(copy)) as database:
            version = database.execute("PRAGMA user_version").fetchone()
            dumps.append((version, list(database.iterdump())))
    assert dumps[0] == dumps[1]
    with contextlib.closing(EventStore(tmp_path)) as store:
        assert set(store.load()) == set(expected(1))


def test_a_row_that_was_damaged_before_a_migration_is_damaged_after_it(tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "v5" / "log.sqlite", tmp_path)
    edit(
        tmp_path,
        "UPDATE events SET event = CAST(replace(event, '0.5', '0.6') AS BLOB)"
        " WHERE stream = 'keep-all'",
        "UPDATE snapshots SET state = substr(state, 2) WHERE stream = 'arc'",
    )
    with contextlib.closing(EventStore(tmp_path)) as store:
        assert set(store.load()) == set(expected(5)) - {"keep-all", "arc"}
        assert set(store.quarantined) == {"keep-all", "arc"}


def test_damaged_pages_are_salvaged_before_a_migration_writes(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    shutil.copy(GOLDEN / "v5" / "log.sqlite", path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        size, root = database.execute(
            "SELECT (SELECT page_size FROM pragma_page_size()), rootpage FROM sqlite_master"
            " WHERE name = 'events'"
        ).fetchone()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(bytes(size))
    with contextlib.closing(EventStore(tmp_path)) as store:
        assert store.salvaged
        assert set() < set(store.load()) < set(expected(5))  # without high-water mark, silently
    [aside] = tmp_path.glob("damaged-*")
    with contextlib.closing(sqlite3.connect(aside / "log.sqlite")) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (5,)
    with contextlib.closing(EventStore(tmp_path)) as store:
        assert not store.salvaged


def test_a_folder_that_version_1_had_just_created_is_migrated(tmp_path: Path) -> None:
    """Version 1 wrote its number after its tables: a crash in between left version 0."""
    with contextlib.closing(sqlite3.connect(tmp_path / "log.sqlite")) as database:
        database.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, stream, seq, entry BLOB)")
        database.execute("CREATE TABLE snapshots (stream TEXT PRIMARY KEY, event, state BLOB)")
        database.execute("CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB)")
    with contextlib.closing(EventStore(tmp_path)) as store:
        assert store.load() == {}
        assert store._database.execute("PRAGMA user_version").fetchone()[0] == stored_format.VERSION


def test_stored_classes_change_only_with_a_new_version() -> None:
    """A new, renamed or moved field needs a new VERSION, a migration and a golden folder."""
    stored = json.loads((GOLDEN / f"v{stored_format.VERSION}" / "schema.json").read_text())
    assert schema() == stored


def test_what_streams_keep_is_what_is_stored() -> None:
    assert StreamState.__struct_fields__ == stored_format.State.__struct_fields__
    assert ("stride", *Point._fields) == stored_format.History.__struct_fields__


def test_request_digests_are_defined_by_their_bytes() -> None:
    x = b"\x00\x00\x00\x00\x00\x00\xe0\x3f"  # 0.5
    rest = b"\x92\xa1a\x91\xcb\x40\x00\x00\x00\x00\x00\x00\x00"  # ["a", [2.0]]
    assert stored_format.to_bytes([0.5]) == x
    digest = hashlib.blake2b(x + rest, digest_size=16).digest()
    assert stored_format.request_digest(x, "a", [2.0]) == digest
    nothing = hashlib.blake2b(b"\x92\xc0\xc0", digest_size=16).digest()
    assert stored_format.request_digest(b"", None, None) == nothing
