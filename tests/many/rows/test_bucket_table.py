"""State that one can move: one Parquet file, one row per key."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet

from localarc import ARC, LARC, RBF, Panel
from localarc.many import KeyedStreams, calibrate, run_files
from localarc.many.panel import table as panel_table
from localarc.many.rows import bucket_bytes as stored
from localarc.many.rows import bucket_table as table
from localarc.many.rows.bucket import Bucket
from localarc.serialization import StateError
from many.keyed_events import PROTOTYPES, columns_of, late, learn, scored
from many.settings import keyed_settings

LATE: dict[str, Any] = {"kind": "kind", "id": "id"}
USUAL: dict[str, Any] = {"key": "key", "order": "order", "score": "score"}


@pytest.mark.parametrize(("prototype", "dimension"), PROTOTYPES.values(), ids=PROTOTYPES)
def test_a_bucket_comes_back_from_its_file_bit_for_bit(
    prototype: Any, dimension: int, tmp_path: Path
) -> None:
    frame, mine = late(dimension=dimension), columns_of(dimension, **LATE)
    bucket = Bucket.new(prototype, mine)
    learn(bucket, frame[:50])
    assert len(bucket.pending)
    table.write(bucket, tmp_path / "state.parquet")
    again = table.from_table(table.read_table(tmp_path / "state.parquet"), None, mine)
    assert again.panel.state() == bucket.panel.state()
    assert again.skipped.tolist() == bucket.skipped.tolist()
    expected, found = learn(bucket, frame[50:]), learn(again, frame[50:])
    assert found["threshold"].tolist() == expected["threshold"].tolist()


def test_streams_resume_from_a_file_as_if_never_stopped(tmp_path: Path) -> None:
    frame = scored()
    expected = calibrate(frame, **keyed_settings(**USUAL, calibrator=ARC(0.1)))[
        "threshold"
    ].tolist()
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **USUAL))
    first = streams.calibrate(frame[:30])
    streams.save(tmp_path / "state.parquet")
    second = KeyedStreams.load(tmp_path / "state.parquet").calibrate(frame[30:])
    assert [*first["threshold"], *second["threshold"]] == expected


def test_keys_without_local_parts_and_integer_keys_come_back(tmp_path: Path) -> None:
    panel = Panel(LARC(0.1, RBF.from_paper(1.0)))
    panel.update([1, "1", 2], [[0.0], [1.0], [2.0]], [1.0, 0.0, 1.0]).put("new", panel.prototype)
    made = panel_table.to_table(panel)
    table.write_table(made, tmp_path / "panel.parquet")
    again = Panel.load(tmp_path / "panel.parquet")
    assert again.keys == [1, "1", 2, "new"]
    assert again.state() == panel.state()


def test_a_panel_loads_the_file_of_keyed_streams(tmp_path: Path) -> None:
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **USUAL))
    streams.calibrate(scored())
    streams.save(tmp_path / "state.parquet")
    assert Panel.load(tmp_path / "state.parquet").state() == streams.panel.state()


def test_other_tools_read_thresholds_and_risks_by_key(tmp_path: Path) -> None:
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **USUAL))
    rows = streams.calibrate(scored())
    streams.save(tmp_path / "state.parquet")
    query = f"SELECT key, constant, loss_sum / rounds FROM '{tmp_path / 'state.parquet'}'"
    found: Any = duckdb.sql(query)
    for key, threshold, risk in found.fetchall():
        assert threshold == streams.panel.thresholds([key])[0]
        assert risk == rows[rows["key"] == key]["loss"].mean()


def test_a_file_with_other_roles_or_settings_is_refused(tmp_path: Path) -> None:
    bucket = Bucket.new(ARC(0.1), columns_of(2))
    learn(bucket, scored(dimension=2))
    made = table.to_table(bucket)
    with pytest.raises(StateError, match=r"features=\['x0', 'x1'\], now it is \[\]"):
        table.from_table(made, None, columns_of())
    with pytest.raises(StateError, match="other settings"):
        table.from_table(made, ARC(0.2), columns_of(2))


def test_what_is_no_state_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with pytest.raises(StateError, match="does not exist"):
        KeyedStreams.load(path)
    path.write_bytes(b"PAR1 nonsense")
    for load in (KeyedStreams.load, Panel.load):
        with pytest.raises(StateError, match=r"x\.parquet: it is not a Parquet file, or damaged"):
            load(path)
    parquet.write_table(pyarrow.table({"key": ["a"]}), path)
    with pytest.raises(StateError, match="not a localarc state"):
        KeyedStreams.load(path)
    newer = table.to_table(Bucket.new(ARC(0.1), columns_of()))
    metadata = newer.schema.metadata[b"localarc"].replace(b'"format": 1', b'"format": 9')
    parquet.write_table(newer.replace_schema_metadata({b"localarc": metadata}), path)
    with pytest.raises(StateError, match="format 9, this localarc reads up to 1"):
        KeyedStreams.load(path)


def test_an_empty_bucket_and_the_bytes_of_one_come_back() -> None:
    empty = Bucket.new(ARC(0.1), columns_of())
    again = table.from_table(table.to_table(empty), None, columns_of())
    assert stored.encode(again) == stored.encode(empty)
    assert np.array_equal(again.due(["a"]), [1])


def test_a_table_that_lost_columns_on_its_way_is_refused() -> None:
    bucket = Bucket.new(LARC(0.1, RBF.from_paper(0.5)), columns_of(1))
    learn(bucket, scored(dimension=1))
    made = table.to_table(bucket)
    names = [name.replace("_", " ") for name in made.column_names]
    renamed = made.rename_columns(names).replace_schema_metadata(made.schema.metadata)
    with pytest.raises(StateError, match=r"lost its columns .*local_clock"):
        table.from_table(renamed, None, columns_of(1))
    assert not any(" " in name for name in made.column_names)


@pytest.mark.parametrize(("prototype", "dimension"), PROTOTYPES.values(), ids=PROTOTYPES)
def test_a_job_with_other_columns_starts_from_a_table(
    prototype: Any, dimension: int, tmp_path: Path
) -> None:
    frame = scored(dimension=dimension)
    names = [f"x{i}" for i in range(dimension)]
    streams = KeyedStreams(**keyed_settings(calibrator=prototype, **USUAL, features=names))
    streams.calibrate(frame[:40])
    streams.save(tmp_path / "state.parquet")
    expected = streams.calibrate(frame[40:])["threshold"].tolist()
    later = frame[40:].drop(columns="order").rename(columns={"key": "who", "x0": "first"})
    mine: dict[str, Any] = {"key": "who", "score": "score"}
    mine["features"] = [{"x0": "first"}.get(name, name) for name in names]
    mine["initial"] = tmp_path / "state.parquet"
    assert (
        KeyedStreams(**keyed_settings(calibrator=prototype, **mine))
        .calibrate(later)["threshold"]
        .tolist()
        == expected
    )
    later.to_parquet(tmp_path / "later.parquet")
    job = tmp_path / "job"
    run_files(
        [tmp_path / "later.parquet"],
        job,
        **keyed_settings(**mine, calibrator=prototype, shards=3, jobs=1),
    )
    found = pandas.concat(pandas.read_parquet(path) for path in (job / "rows").iterdir())
    assert found.sort_values("when")["threshold"].tolist() == expected
    panels = [Panel.load(path, prototype) for path in (job / "state").iterdir()]
    assert sum(map(len, panels)) == frame["key"].nunique()


def test_what_a_job_cannot_start_from_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.parquet"

    def start(**more: Any) -> None:
        KeyedStreams(
            **keyed_settings(
                calibrator=more.pop("calibrator", ARC(0.1)), **USUAL, **more, initial=path
            )
        )

    table.write_table(panel_table.to_table(Panel(ARC(0.1)).update([17], None, [1.0])), path)
    with pytest.raises(StateError, match="keys that are integers"):
        start()
    late_streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **USUAL, **LATE))
    late_streams.calibrate(late()[:5])
    late_streams.save(path)
    with pytest.raises(StateError, match="5 asks of the table are pending"):
        start()
    start(**LATE)
    with pytest.raises(StateError, match="other settings"):
        start(calibrator=ARC(0.2), **LATE)
    timed: dict[str, Any] = {"key": "key", "score": "score", "time": "when"}
    waiting = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **timed, delay=timedelta(hours=3)))
    waiting.calibrate(scored())
    waiting.save(path)
    with pytest.raises(StateError, match=r"\d rows of the table wait for the watermark"):
        start()
