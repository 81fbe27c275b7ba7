"""Streams by event time on a real Spark: the rows and rules of one process."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas
import pytest

import localarc.many as keyed_frames
from localarc import ARC
from localarc.many import KeyedStreams
from localarc.many.spark import accepted, calibrate, export_state, import_state
from many.keyed_events import late
from many.settings import keyed_settings
from many.spark.test_calibrate import files, run
from many.test_times import HOUR, TIMED, mixed, rules, timed

LIMITS: dict[str, Any] = {"ttl": 4 * HOUR}


def with_late_rows(rows: int = 80) -> Any:
    """Events up to three hours late, one that comes much later, and a copy."""
    frame = mixed(timed(rows=rows, keys=6), 3)
    frame["when"] = frame["when"].dt.tz_localize("UTC")
    moved = pandas.concat([frame.iloc[:2], frame.iloc[3:], frame.iloc[2:3]])
    return pandas.concat([moved, moved.iloc[-9:-8]], ignore_index=True)


def in_one_process(frame: Any, parts: int, **roles: Any) -> tuple[KeyedStreams, Any]:
    """What frames one after another give."""
    streams = KeyedStreams(**keyed_settings(calibrator=ARC(0.1), **roles))
    size = -(-len(frame) // parts)
    found = [streams.calibrate(frame[i : i + size], "reject") for i in range(0, len(frame), size)]
    return streams, pandas.concat(found)


def collected(rows: Any) -> Any:
    """The rows of a Spark frame; `toPandas` warns with pandas 3."""
    return pandas.DataFrame([row.asDict() for row in rows.collect()])


def results(rows: Any) -> list[Any]:
    columns = zip(rows["id"], rows["note"], rows["threshold"].fillna(-1), rules(rows), strict=True)
    return sorted(columns)


def test_a_stream_by_time_returns_the_rows_of_one_process_and_names_late_ones(
    spark: Any, tmp_path: Path
) -> None:
    frame = with_late_rows().assign(note=lambda f: "note " + f["id"])
    frame.loc[5, "note"] = None
    frame["note"] = frame["note"].astype(object).where(frame["note"].notna(), None)
    stream = files(spark, frame, tmp_path / "in", 3).withWatermark("when", "3 hours")
    usual: dict[str, Any] = {**TIMED, "id": "id", **LIMITS}
    made = calibrate(
        stream, **keyed_settings(**usual, calibrator=ARC(0.1), buckets=3, bad_rows="reject")
    )
    run(made, tmp_path)
    found = collected(spark.read.parquet(str(tmp_path / "out")))
    streams, expected = in_one_process(frame, 3, **usual, delay=3 * HOUR)
    assert {"late", "repeated event"} <= set(rules(expected))
    assert results(found.fillna({"note": ""})) == results(expected.fillna({"note": ""}))

    saved = export_state(tmp_path / "checkpoint", tmp_path / "saved.parquet")
    moved = KeyedStreams.load(saved)  # out of Spark, and into it again
    assert moved.waiting == streams.waiting > 5
    moved.save(tmp_path / "moved.parquet")
    rest = pandas.DataFrame({"key": "key 0", "id": ["end"], "note": "", "score": 0.5})
    rest["when"] = frame["when"].max() + timedelta(hours=9)
    folder = tmp_path / "later"
    folder.mkdir()
    again = files(spark, rest[frame.columns], folder / "in", 1).withWatermark("when", "3 hours")
    later = calibrate(
        again,
        **keyed_settings(
            **usual,
            calibrator=ARC(0.1),
            buckets=2,
            initial=import_state(tmp_path / "moved.parquet"),
            bad_rows="reject",
        ),
    )
    run(later, folder)
    waited = collected(spark.read.parquet(str(folder / "out")))
    streams.calibrate(rest[:0], "reject")
    expected = streams.calibrate(rest[frame.columns], "reject")
    assert len(expected) > 5
    assert results(waited.fillna({"note": ""})) == results(expected.fillna({"note": ""}))
    alone = moved.calibrate(rest[frame.columns], "reject")
    assert results(alone.fillna({"note": ""})) == results(expected.fillna({"note": ""}))


def test_windows_after_a_stream_by_time_count_every_accepted_row(
    spark: Any, tmp_path: Path
) -> None:
    from pyspark.sql import functions

    frame = with_late_rows()
    stream = files(spark, frame, tmp_path / "in", 3).withWatermark("when", "3 hours")
    usual: dict[str, Any] = {**TIMED, "id": "id", "bad_rows": "reject"}
    rows = accepted(calibrate(stream, **keyed_settings(**usual, calibrator=ARC(0.1), buckets=3)))
    run(rows.groupBy(functions.window("when", "1 hour")).count(), tmp_path)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    _, expected = in_one_process(frame, 3, **{**TIMED, "id": "id"}, delay=3 * HOUR)
    good = expected[expected["rejected"].isna()]
    passed = frame["when"].max() - 3 * HOUR
    counts = good.groupby(good["when"].dt.floor("h")).size()
    ended = counts[counts.index + HOUR <= passed]
    assert len(ended) > 5
    assert sorted(row["count"] for row in found) == sorted(ended)


def test_a_batch_frame_by_time_is_one_frame(spark: Any) -> None:
    frame = with_late_rows()
    usual: dict[str, Any] = {**TIMED, "id": "id", **LIMITS, "bad_rows": "reject"}
    made = calibrate(
        spark.createDataFrame(frame), **keyed_settings(**usual, calibrator=ARC(0.1), buckets=2)
    )
    expected = keyed_frames.calibrate(frame, **keyed_settings(**usual, calibrator=ARC(0.1)))
    note = {"note": ""}
    assert results(collected(made).assign(**note)) == results(expected.assign(**note))
    events = late().drop(columns=["order", "time"])
    asks: dict[str, Any] = {"kind": "kind", "id": "id", "max_pending": 2, "bad_rows": "reject"}
    events["when"] = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(range(len(events)), "h")
    found = calibrate(
        spark.createDataFrame(events), **keyed_settings(**TIMED, **asks, calibrator=ARC(0.1))
    )
    expected = keyed_frames.calibrate(
        events, **keyed_settings(**TIMED, **asks, calibrator=ARC(0.1))
    )
    assert "unknown id" in rules(expected)
    assert results(collected(found).assign(**note)) == results(expected.assign(**note))


def test_a_stream_by_time_without_a_watermark_is_refused(spark: Any, tmp_path: Path) -> None:
    stream = files(spark, with_late_rows(), tmp_path / "in", 1)
    usual: dict[str, Any] = {**TIMED, "calibrator": ARC(0.1), "buckets": 2}
    with pytest.raises(ValueError, match=r'withWatermark\("when", "10 minutes"\)'):
        calibrate(stream, **keyed_settings(**usual))
    with pytest.raises(ValueError, match="name a column of order= or time="):
        calibrate(stream, **keyed_settings(**usual | {"time": None}))
    with pytest.raises(TypeError, match="time must be timestamps, column 'id' is string"):
        calibrate(stream, **keyed_settings(**usual | {"time": "id"}))
