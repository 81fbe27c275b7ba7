"""Out of a checkpoint and into another job."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from localarc import ARC, LARC, RBF, Panel
from localarc.many import Columns, KeyedStreams
from localarc.many.spark import calibrate, export_state, import_state
from localarc.serialization import StateError
from many.settings import keyed_settings
from many.spark.streams import alone, keyed
from many.spark.test_calibrate import files, run


def test_a_job_resumes_in_other_buckets_from_exported_files(spark: Any, tmp_path: Path) -> None:
    events = keyed(20, 10, dimension=1)
    early, late = events[events["order"] <= 6], events[events["order"] > 6]
    calibrator = LARC(0.1, RBF.from_paper(0.5))
    usual: dict[str, Any] = {
        "key": "key",
        "order": "order",
        "features": ["x0"],
        "score": "score",
        "calibrator": calibrator,
    }
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    run(
        calibrate(files(spark, early, first / "in", 2), **keyed_settings(**usual, buckets=3)), first
    )
    saved = Panel.load(export_state(first / "checkpoint", tmp_path / "saved.parquet"))
    assert set(saved.keys) == set(events["key"])
    for key, one in alone(early, calibrator)[0].items():
        assert saved.calibrator(key).state() == one.state()

    stream = files(spark, late, second / "in", 2)
    initial = import_state(tmp_path / "saved.parquet")
    run(calibrate(stream, **keyed_settings(**usual, buckets=5, initial=initial)), second)
    calibrators, thresholds = alone(events, calibrator)
    rows = spark.read.parquet(str(second / "out")).collect()
    assert {(r.key, r.order): r.threshold for r in rows}.items() <= thresholds.items()
    target = tmp_path / "again.parquet"
    again = Panel.load(export_state(second / "checkpoint", target, calibrator=calibrator))
    for key, one in calibrators.items():
        assert again.calibrator(key).state() == one.state()
    batch = calibrate(spark.createDataFrame(late), **keyed_settings(**usual, initial=initial))
    assert {(r.key, r.order): r.threshold for r in batch.collect()}.items() <= thresholds.items()


def test_orders_that_bad_rows_consumed_are_exported_too(spark: Any, tmp_path: Path) -> None:
    events = keyed(2, 2)
    events.loc[events["order"] == 1, "score"] = float("nan")
    usual: dict[str, Any] = {
        "key": "key",
        "order": "order",
        "score": "score",
        "calibrator": ARC(0.1),
        "buckets": 2,
    }
    made = calibrate(
        files(spark, events, tmp_path / "in", 1), **keyed_settings(**usual, bad_rows="reject")
    )
    run(made, tmp_path)
    saved = export_state(tmp_path / "checkpoint", tmp_path / "saved.parquet")
    assert Panel.load(saved).rounds.tolist() == [1, 1]
    after = spark.createDataFrame([("key 0", 3, 0.5)], "key string, order int, score double")
    made = calibrate(after, **keyed_settings(**usual, initial=import_state(saved)))
    assert [r.order for r in made.collect()] == [3]


def test_files_that_save_wrote_seed_a_job(spark: Any, tmp_path: Path) -> None:
    one = ARC(0.1).update(None, 1.0)
    one.save(tmp_path / "ann.state")
    frame = spark.createDataFrame([("Ann", 2, 0.5), ("Bob", 1, 0.5)], "k string, t int, s double")
    made = calibrate(
        frame,
        Columns(key="k", order="t", score="s"),
        ARC(0.1),
        buckets=2,
        initial=import_state({"Ann": tmp_path / "ann.state"}),
    )
    assert {r.k: r.threshold for r in made.collect()} == {"Ann": one.threshold(None), "Bob": 0.0}


def test_pending_asks_and_keys_of_any_spelling_move_to_another_job(
    spark: Any, tmp_path: Path
) -> None:
    keys = ["plain", "Plain", "a/b", "..", "", "k" * 300, "line\nbreak", "\u00e9"]
    asks = pandas.DataFrame({"key": keys, "n": 1, "id": "x", "kind": "ask", "score": np.nan})
    usual: dict[str, Any] = {"key": "key", "order": "n", "kind": "kind", "id": "id"}
    usual |= {"score": "score", "calibrator": ARC(0.1)}
    run(
        calibrate(files(spark, asks, tmp_path / "in", 1), **keyed_settings(**usual, buckets=2)),
        tmp_path,
    )
    saved = export_state(tmp_path / "checkpoint", tmp_path / "saved.parquet")
    assert KeyedStreams.load(saved).pending == len(keys)
    outcomes = spark.createDataFrame(asks.assign(n=2, kind="learn", score=1.0))
    found = calibrate(outcomes, **keyed_settings(**usual, initial=import_state(saved))).collect()
    assert {row.key: (row.threshold, row.loss) for row in found} == dict.fromkeys(keys, (0.0, 1.0))
    with pytest.raises(FileExistsError, match="Name a new file"):
        export_state(tmp_path / "checkpoint", saved)


def test_a_folder_that_an_earlier_release_exported_is_read(spark: Any, tmp_path: Path) -> None:
    one = ARC(0.1).update(None, 1.0)
    one.save(tmp_path / "a.state")
    with pytest.raises(StateError, match="not a finished export"):
        import_state(tmp_path)
    index = {"Ann": {"file": "a.state", "skipped": 1}}
    (tmp_path / "keys.json").write_text(json.dumps(index))
    frame = spark.createDataFrame([("Ann", 3, 0.5)], "k string, t int, s double")
    usual: dict[str, Any] = {"key": "k", "order": "t", "score": "s", "calibrator": ARC(0.1)}
    made = calibrate(frame, **keyed_settings(**usual, initial=import_state(tmp_path)))
    assert [row.threshold for row in made.collect()] == [one.threshold(None)]


def test_a_state_of_another_kind_or_with_other_settings_is_rejected(
    spark: Any, tmp_path: Path
) -> None:
    from pyspark.errors import PythonException

    Panel(ARC(0.1)).save(tmp_path / "panel.state")
    with pytest.raises(StateError, match="holds a Panel"):
        import_state({"a": tmp_path / "panel.state"})
    ARC(0.2).save(tmp_path / "other.state")
    frame = spark.createDataFrame([("a", 1, 0.5)], "k string, t int, s double")
    made = calibrate(
        frame,
        Columns(key="k", order="t", score="s"),
        ARC(0.1),
        buckets=1,
        initial=import_state({"a": tmp_path / "other.state"}),
    )
    with pytest.raises(PythonException, match="other settings"):
        made.collect()


def test_a_frame_with_other_columns_is_rejected_as_initial_state(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 1, 0.5)], "k string, t int, s double")
    usual: dict[str, Any] = {"key": "k", "order": "t", "score": "s", "buckets": 1}
    with pytest.raises(TypeError, match="import_state returned"):
        calibrate(frame, **keyed_settings(**usual, calibrator=ARC(0.1), initial=frame))


def test_a_restart_may_change_what_happens_to_bad_rows_and_nothing_else(
    spark: Any, tmp_path: Path
) -> None:
    from pyspark.errors import StreamingQueryException

    events = keyed(6, 4)
    usual: dict[str, Any] = {"key": "key", "order": "order", "score": "score"}
    stream = files(spark, events[events["order"] <= 2], tmp_path / "in", 1)
    run(calibrate(stream, **keyed_settings(**usual, calibrator=ARC(0.1), buckets=2)), tmp_path)
    later = events[events["order"] > 2]
    later.to_parquet(tmp_path / "in" / "later.parquet")
    with pytest.raises(StreamingQueryException, match="other settings"):
        run(calibrate(stream, **keyed_settings(**usual, calibrator=ARC(0.2), buckets=2)), tmp_path)
    with pytest.raises(StreamingQueryException, match=r"buckets=2, now it is 1"):
        run(calibrate(stream, **keyed_settings(**usual, calibrator=ARC(0.1), buckets=1)), tmp_path)
    made = calibrate(
        stream, **keyed_settings(**usual, calibrator=ARC(0.1), buckets=2, bad_rows="reject")
    )
    run(made, tmp_path)
    found = spark.read.option("mergeSchema", True).parquet(str(tmp_path / "out")).collect()
    assert {(r.key, r.order): r.threshold for r in found} == alone(events, ARC(0.1))[1]
    assert not any(r.rejected for r in found)
