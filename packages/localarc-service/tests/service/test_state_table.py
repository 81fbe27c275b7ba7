"""Keys of a table become streams, and streams keys of a table, bit for bit."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from localarc import (
    ARC,
    LARC,
    RBF,
    AutoLARC,
    Cauchy,
    Constant,
    KeepAll,
    KeepLast,
    Laplace,
    Lattice,
    Panel,
    Power,
    RationalQuadratic,
    many,
)
from localarc.cli import main
from localarc.many import Columns, KeyedStreams
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import to_table
from localarc.many.rows import bucket_table as table
from localarc.serialization import StateError
from localarc_client.wire.config import ArcConfig, AutoConfig, MondrianConfig, StreamConfig
from localarc_client.wire.config_parts import NodesMemory
from localarc_client.wire.key_names import stream_name
from localarc_client.wire.predictions import FeedbackRequest, PredictRequest
from localarc_service.limits import Limits
from localarc_service.storage.opening import open_store
from localarc_service.storage.store import EventStore
from localarc_service.storage.transfer import Found, export_streams, import_streams, read_database
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream
from service.test_transfer import snapshots, store_in

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address

KEYS = ["ann", "DE/Berlin", "_"]
CALIBRATORS: dict[str, tuple[Callable[[], Prototype], int]] = {
    "arc": (lambda: ARC(0.1, 0.5, score_range=(0.0, 3.0), initial_threshold=0.3), 0),
    "arc with a floor, and inputs": (lambda: ARC(0.2, Power(0.5, 0.7), floor=0.1), 2),
    "larc, automatic lattice": (lambda: LARC(0.1, RBF(0.3)), 1),
    "larc, automatic terms": (lambda: LARC(0.1, Laplace(0.8), Constant(0.05), clip=0.7), 3),
    "larc, paper": (lambda: LARC(0.1, RBF.from_paper(0.3), 0.7, 1e-3, memory=KeepAll()), 2),
    "larc, one scale per feature": (lambda: LARC(0.1, Cauchy((0.5, 2.0)), memory=KeepAll()), 2),
    "larc, window": (lambda: LARC(0.1, RBF(0.4), memory=KeepLast(7, archive=False)), 2),
    "larc, lattice": (lambda: LARC(0.1, RBF(0.4, 1.5), memory=Lattice(1e-6)), 2),
    "larc, shape": (lambda: LARC(0.1, RationalQuadratic(0.6, 1.2, 2.5), memory=KeepAll()), 1),
    "auto": (lambda: AutoLARC(0.1), 2),
    "auto with limits": (lambda: AutoLARC(0.1, limits=(0.0, None), promise="at most"), 1),
}


def events(rows: int, features: int, seed: int) -> tuple[list[str], Any, Any]:
    """Keys, inputs and scores."""
    random = np.random.default_rng(seed)
    keys = [KEYS[i] for i in random.integers(0, len(KEYS), rows)]
    return keys, random.uniform(size=(rows, features)), np.abs(random.normal(size=rows))


def calibrated(streams: KeyedStreams, rows: tuple[list[str], Any, Any]) -> list[float]:
    """The thresholds of keyed streams."""
    keys, X, scores = rows
    columns = {"key": keys, "score": scores} | {f"x{i}": X[:, i] for i in range(X.shape[1])}
    found: list[float] = streams.calibrate(pyarrow.table(columns))["threshold"].to_pylist()
    return found


def keyed(prototype: Prototype, features: int, rows: int = 60) -> KeyedStreams:
    """Keyed streams that have learned."""
    names = [f"x{i}" for i in range(features)]
    streams = KeyedStreams(Columns(key="key", features=names, score="score"), prototype)
    calibrated(streams, events(rows, features, seed=0))
    return streams


def served(manager: StreamManager, rows: tuple[list[str], Any, Any]) -> list[float]:
    """The thresholds of a service with a stream per key, for the same events."""
    found = []
    for key, x, score in zip(*rows, strict=True):
        name = stream_name(key)
        answer = manager.predict(name, PredictRequest(x=x.tolist()))
        loss = float(score > answer.threshold)
        told = score if manager.streams[name].state.config.method == "auto" else None
        manager.feedback(name, answer.id, FeedbackRequest(loss, told))
        found.append(answer.threshold)
    return found


def manager_of(store: Any) -> StreamManager:
    manager = StreamManager(Limits(), lambda: 1.0)
    manager.begin(store.load())
    return manager


COMPILED = "larc, automatic terms", "larc, one scale per feature", "larc, lattice", "larc, shape"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in COMPILED)) for name in CALIBRATORS],
)
def test_streams_continue_like_the_keys_and_back_again(name: str, tmp_path: Path) -> None:
    make, features = CALIBRATORS[name]
    streams = keyed(make(), features)
    streams.save(tmp_path / "keys.parquet")
    with store_in(tmp_path / "data") as store:
        assert len(import_streams(store, tmp_path / "keys.parquet")) == len(KEYS)
    more = events(40, features, seed=1)
    expected = calibrated(streams, more)
    with store_in(tmp_path / "data") as store:
        manager = manager_of(store)
        assert sorted(manager.streams) == sorted(map(stream_name, KEYS))
        assert served(manager, more) == expected
        export_streams(Found(manager.streams, {}), tmp_path / "back.parquet", as_table=True)
    back = Panel.load(tmp_path / "back.parquet")
    keys, X, _ = events(50, features, seed=2)
    assert back.rounds_of(KEYS).tolist() == streams.panel.rounds_of(KEYS).tolist()
    assert back.thresholds(keys, X).tolist() == streams.panel.thresholds(keys, X).tolist()


def test_the_settings_and_the_columns_are_the_config(tmp_path: Path) -> None:
    keyed(LARC(0.1, RBF(0.3), 0.7, clip=2.0), 2).save(tmp_path / "keys.parquet")
    with store_in(tmp_path / "data") as store:
        import_streams(store, tmp_path / "keys.parquet")
        stream = store.load()["ann"]
    config: Any = stream.state.config
    assert (config.method, config.alpha, config.rate, config.clip) == ("larc", 0.1, 0.7, 2.0)
    assert (config.features, config.feature_names) == (2, ["x0", "x1"])
    assert (config.memory.kind, config.memory.tolerance) == ("lattice", 1e-15)
    assert stream.state.imported
    assert stream.consistent
    assert stream.state.rounds == stream.calibrator.rounds > 0


def test_the_table_of_a_panel_alone_is_imported(tmp_path: Path) -> None:
    panel = Panel(LARC(0.1, RBF(1.0))).update(["a", "b"], [[0.0, 1.0], [1.0, 1.0]], [1.0, 0.0])
    table.write_table(to_table(panel), tmp_path / "panel.parquet")
    with store_in(tmp_path / "data") as store:
        import_streams(store, tmp_path / "panel.parquet", ["b"])
        (stream,) = store.load().values()
    assert (stream.name, stream.state.config.features) == ("b", 2)
    x = np.array([0.5, 0.5])
    assert stream.method.threshold(x, None) == panel.thresholds(["b"], [[0.5, 0.5]])[0]


@pytest.mark.service
def test_a_database_receives_and_gives_a_table(tmp_path: Path, address: Address) -> None:
    streams = keyed(ARC(0.1), 0)
    streams.save(tmp_path / "keys.parquet")
    more = events(40, 0, seed=1)
    with contextlib.closing(open_store(address)) as store:
        import_streams(store, tmp_path / "keys.parquet")
        manager = manager_of(store)
        assert served(manager, more) == calibrated(streams, more)
        store.append(manager.uncommitted)
        export_streams(read_database(address), tmp_path / "back.parquet", as_table=True)
    found = Panel.load(tmp_path / "back.parquet")
    assert found.thresholds(KEYS).tolist() == streams.panel.thresholds(KEYS).tolist()


@pytest.mark.service
def test_a_failed_import_leaves_the_database_as_it_was(
    tmp_path: Path, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed(ARC(0.1), 0).save(tmp_path / "keys.parquet")
    with contextlib.closing(open_store(address)) as store:
        import_streams(store, tmp_path / "keys.parquet", ["ann"])
        before, snapshot = snapshots(store.load()), Stream.snapshot

        def fail(self: Stream) -> bytes:
            if self.name == stream_name(KEYS[1]):
                raise MemoryError
            return snapshot(self)

        monkeypatch.setattr(Stream, "snapshot", fail)
        with pytest.raises(MemoryError):
            import_streams(store, tmp_path / "keys.parquet", replace=True)
        monkeypatch.undo()
        assert snapshots(store.load()) == before
        assert len(import_streams(store, tmp_path / "keys.parquet", replace=True)) == len(KEYS)


def test_a_failed_import_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed(ARC(0.1), 0).save(tmp_path / "keys.parquet")
    with store_in(tmp_path / "data") as store:
        import_streams(store, tmp_path / "keys.parquet", ["ann"])
        before = snapshots(store.load())
        with pytest.raises(ValueError, match="a stream named 'ann': nothing was imported"):
            import_streams(store, tmp_path / "keys.parquet")
        insert, done = EventStore._insert_snapshot, list[str]()

        def fail(self: EventStore, stream: Any) -> None:
            if done:
                raise sqlite3.OperationalError("database or disk is full")
            insert(self, stream)
            done.append(stream.name)

        monkeypatch.setattr(EventStore, "_insert_snapshot", fail)
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            import_streams(store, tmp_path / "keys.parquet", replace=True)
        assert done
        assert snapshots(store.load()) == before


def pending_asks() -> KeyedStreams:
    streams = KeyedStreams(Columns(key="key", score="score", kind="kind", id="id"), ARC(0.1))
    columns = {"key": ["eve"], "id": ["1"], "kind": ["ask"], "score": pyarrow.array([None], "f8")}
    streams.calibrate(pyarrow.table(columns))
    return streams


def tickets() -> Panel:
    panel = Panel(AutoLARC(0.1))
    panel.ask(["eve"], [[0.5]])
    return panel


def waiting_rows() -> KeyedStreams:
    from datetime import datetime, timedelta

    delay = timedelta(hours=1)
    streams = KeyedStreams(
        Columns(key="key", score="score", time="at"), ARC(0.1), limits=many.Limits(delay=delay)
    )
    at = [datetime(2026, 1, 1), datetime(2026, 1, 2)]
    streams.calibrate(pyarrow.table({"key": ["eve", "eve"], "at": at, "score": [0.1, 0.2]}))
    return streams


def one_key(prototype: Prototype, key: str | int = "ann") -> Panel:
    scores = [0.7] if isinstance(prototype, AutoLARC) else None
    return Panel(prototype).update([key], [[0.5]], [1.0], scores)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (pending_asks, "1 ask.* pending, of the key 'eve'"),
        (tickets, "1 ask.* pending, of the key 'eve'"),
        (waiting_rows, "1 row.* wait for the watermark"),
        (lambda: one_key(ARC(0.1), 17), "keys that are integers"),
        (lambda: one_key(ARC(0.1), "x" * 65), "a name has between 1 and 64"),
        (lambda: one_key(ARC(0.1), ""), "a name has between 1 and 64"),
        (lambda: Panel(ARC(0.1)), "the table has no keys"),
        (lambda: one_key(LARC(0.1, RBF(1.0) + RBF(2.0))), "cannot have the kernel Sum"),
        (lambda: one_key(LARC(0.1, RBF(1.0), memory=KeepLast(5))), "memory = .*'archive': True"),
        (
            lambda: one_key(LARC(0.1, RBF(1.0), memory=KeepAll(), radius=1.0)),
            "cannot have radius = 1.0",
        ),
        (lambda: one_key(AutoLARC(0.1, max_bytes=40_000)), "cannot have .*65536 - .*max_bytes"),
        (lambda: one_key(LARC(0.1, RBF(1.0), lambda t: 1.0 / t)), "the function '.*lambda.*' in"),
    ],
)
def test_what_cannot_be_imported_is_named(
    make: Callable[[], KeyedStreams | Panel], expected: str, tmp_path: Path
) -> None:
    made, path = make(), tmp_path / "keys.parquet"
    if isinstance(made, Panel):
        table.write_table(to_table(made), path)
    else:
        made.save(path)
    with store_in(tmp_path / "data") as store:
        with pytest.raises(StateError, match=expected):
            import_streams(store, path)
        assert store.load() == {}


def test_an_unknown_stream_and_a_foreign_file_are_named(tmp_path: Path) -> None:
    keyed(ARC(0.1), 0).save(tmp_path / "keys.parquet")
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 nonsense")
    with store_in(tmp_path / "data") as store:
        with pytest.raises(StateError, match="has no key for a stream named eve"):
            import_streams(store, tmp_path / "keys.parquet", ["ann", "eve"])
        with pytest.raises(StateError, match="not a Parquet file, or damaged"):
            import_streams(store, tmp_path / "damaged.parquet")
        parquet.write_table(pyarrow.table({"key": ["a"]}), tmp_path / "other.parquet")
        with pytest.raises(StateError, match=r"other\.parquet: the table is not a localarc state"):
            import_streams(store, tmp_path / "other.parquet")


AUTO = AutoConfig(0.1, features=1, memory=NodesMemory(135_000))


@pytest.mark.parametrize(
    ("config", "other", "body", "told", "expected"),
    [
        (MondrianConfig(0.1), None, PredictRequest(group="a"), 1.0, "mondrian"),
        (ArcConfig(0.1), None, PredictRequest(), None, "1 pending prediction"),
        (
            ArcConfig(0.1),
            ArcConfig(0.2),
            PredictRequest(),
            1.0,
            "has other settings than stream 'a'",
        ),
        (
            ArcConfig(0.1, features=1),
            ArcConfig(0.1, features=1, feature_names=["x"]),
            PredictRequest(x=[0.5]),
            1.0,
            "has other features than stream 'a'",
        ),
        (AUTO, None, PredictRequest(x=[0.5], group="a"), 1.0, "has groups"),
        (
            AutoConfig(0.1, features=1),
            None,
            PredictRequest(x=[0.5]),
            1.0,
            "9,000,000 bytes, and a panel has one of 135,000 per key",
        ),
    ],
)
def test_what_cannot_be_exported_is_named(
    config: StreamConfig,
    other: StreamConfig | None,
    body: PredictRequest,
    told: float | None,
    expected: str,
    tmp_path: Path,
) -> None:
    manager = StreamManager(Limits(), lambda: 1.0)
    for name, one in {"a": config, "b": other or config}.items():
        manager.create(name, one)
        answer = manager.predict(name, body)
        if told is not None:
            manager.feedback(name, answer.id, FeedbackRequest(told, 0.7))
    path = tmp_path / "keys.parquet"
    with pytest.raises(ValueError, match=expected):
        export_streams(Found(manager.streams, {}), path, as_table=True)
    assert not path.exists()
    with pytest.raises(ValueError, match="no streams to export"):
        export_streams(Found({}, {}), path, as_table=True)


def test_the_commands_import_and_export_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str | Path) -> tuple[Any, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        return ended.value.code, printed.out + printed.err

    many = Panel(ARC(0.1)).update([f"key {i:02}" for i in range(25)], None, [1.0] * 25)
    table.write_table(to_table(many), tmp_path / "keys.parquet")
    code, said = run("import", tmp_path / "keys.parquet", "--data", tmp_path / "data")
    lines = said.splitlines()
    assert (code, len(lines)) == (0, 22)
    assert lines[0] == "key.x2000: event 1, 1 rounds, 0 pending"
    assert lines[-2:] == ["... and 5 more", f"25 stream(s) into {tmp_path / 'data'}"]
    back = tmp_path / "back.parquet"
    assert run("export", "--data", tmp_path / "data", "--parquet", "--out", back)[0] == 0
    assert Panel.load(back).state() == many.state()
    assert run("serve", "--check", tmp_path / "data")[0] == 0
