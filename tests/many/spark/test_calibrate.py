"""Keyed streams on a real Spark: streaming, batch, bad rows, and invalid arguments."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import pytest

import localarc.many as keyed_frames
from localarc import ARC, LARC, RBF, AutoLARC
from localarc.many import Columns
from localarc.many.spark import accepted, calibrate, rejected
from many.keyed_events import late
from many.settings import keyed_settings
from many.spark.streams import alone, keyed, write


def files(session: Any, frame: Any, folder: Path, number: int) -> Any:
    """A stream of the frame, one file per micro-batch."""
    write(frame, folder, number)
    schema = session.read.parquet(str(folder)).schema
    reader = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


def run(frame: Any, folder: Path) -> None:
    """Write the whole stream to files, with a checkpoint."""
    writer = frame.writeStream.format("parquet").option("path", str(folder / "out"))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    finally:
        query.stop()


def test_a_stream_gives_each_key_what_it_would_get_alone(spark: Any, tmp_path: Path) -> None:
    events = keyed(30, 12)
    stream = files(spark, events, tmp_path / "in", 3)
    run(
        calibrate(stream, Columns(key="key", order="order", score="score"), ARC(0.1), buckets=4),
        tmp_path,
    )
    found = spark.read.parquet(str(tmp_path / "out"))
    assert found.columns == ["key", "order", "score", "threshold", "loss", "covered"]
    rows = found.collect()
    assert {(r.key, r.order): r.threshold for r in rows} == alone(events, ARC(0.1))[1]
    assert len(rows) == len(events)
    assert all(r.covered == (r.score <= r.threshold) and r.loss == 1.0 - r.covered for r in rows)


def test_a_batch_frame_is_a_back_test_of_all_keys(spark: Any) -> None:
    events, calibrator = keyed(6, 9, dimension=2), LARC(0.1, RBF.from_paper(0.5))
    frame = spark.createDataFrame(events.assign(key=events["key"].str[4:].astype(int)))
    rows = calibrate(
        frame,
        Columns(key="key", order="order", features=["x0", "x1"], score="score"),
        calibrator,
        buckets=2,
    )
    assert dict(rows.dtypes)["key"] == "bigint"  # integers stay integers
    found = {(f"key {r.key}", r.order): r.threshold for r in rows.collect()}
    assert found == alone(events, calibrator)[1]


def test_given_losses_are_learned_and_the_next_threshold_is_returned(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 2, 0.0), ("a", 1, 1.0)], "who string, t int, loss double")
    rows = calibrate(frame, Columns(key="who", order="t", loss="loss"), ARC(0.1), buckets=1)
    first, second = rows.orderBy("t").collect()
    assert first.next_threshold == ARC(0.1).update(None, 1.0).threshold(None)
    assert second.next_threshold == ARC(0.1).update(None, 1.0).update(None, 0.0).threshold(None)


BAD = [
    ("bad score", ("a", 2, float("nan"))),
    ("bad score", ("a", 2, None)),
    ("missing key", (None, 2, 0.5)),
    ("bad order", ("a", None, 0.5)),
    ("gap in order", ("a", 3, 0.5)),
    ("repeated order", ("a", 1, 0.5)),
]


def with_a_bad_row(session: Any, row: Any) -> Any:
    return session.createDataFrame([("a", 1, 0.5), ("b", 1, 0.5), row], "k string, t int, s double")


@pytest.mark.parametrize(("rule", "row"), BAD, ids=[f"{rule} {row[2]}" for rule, row in BAD])
def test_a_bad_row_stops_the_job_with_its_key_and_rule(spark: Any, rule: str, row: Any) -> None:
    from pyspark.errors import PythonException

    frame = with_a_bad_row(spark, row)
    made = calibrate(frame, Columns(key="k", order="t", score="s"), ARC(0.1), buckets=2)
    with pytest.raises(PythonException, match=f"BadRowError: {rule}: key {row[0]!r}, order"):
        made.collect()


def test_bad_rows_are_collected_when_asked(spark: Any, tmp_path: Path) -> None:
    columns = "k string, t int, s double"
    good = [("a", 1, 0.5), ("b", 1, 0.5), ("b", 2, 0.5)]
    frame = spark.createDataFrame([*good, *(row for _, row in BAD[2:]), BAD[0][1]], columns)
    made = calibrate(
        frame, Columns(key="k", order="t", score="s"), ARC(0.1), buckets=2, bad_rows="reject"
    )
    learned = {(r.k, r.t) for r in accepted(made).collect()}
    # The NaN uses up order 2 of key a, so that order 3 is no gap any more.
    assert learned == {("a", 1), ("a", 3), ("b", 1), ("b", 2)}
    bad = {(r.k, r.t): r.rejected for r in rejected(made).collect()}
    assert bad == {
        ("a", 2): "bad score",
        (None, 2): "missing key",
        ("a", None): "bad order",
        ("a", 1): "repeated order",
    }


def test_a_stream_stops_at_a_repeated_event(spark: Any, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    events = keyed(4, 3)
    events.loc[len(events)] = events.loc[4]
    stream = files(spark, events, tmp_path / "in", 2)
    made = calibrate(stream, Columns(key="key", order="order", score="score"), ARC(0.1), buckets=2)
    with pytest.raises(StreamingQueryException, match="repeated order: key 'key"):
        run(made, tmp_path)


def test_good_and_bad_rows_of_one_sink_can_be_separated(spark: Any, tmp_path: Path) -> None:
    events = keyed(4, 3)
    events.loc[3, "score"] = float("nan")
    stream = files(spark, events, tmp_path / "in", 2)
    made = calibrate(
        stream,
        Columns(key="key", order="order", score="score"),
        ARC(0.1),
        buckets=2,
        bad_rows="reject",
    )
    run(made, tmp_path)
    found = spark.read.parquet(str(tmp_path / "out"))
    assert accepted(found).count() == len(events) - 1
    assert [r.rejected for r in rejected(found).collect()] == ["bad score"]


def test_a_session_without_rocksdb_gets_an_error_with_the_fix(spark: Any, tmp_path: Path) -> None:
    stream = files(spark, keyed(2, 2), tmp_path / "in", 1)
    other = stream.sparkSession.newSession()
    plain = other.readStream.schema(stream.schema).parquet(str(tmp_path / "in"))
    with pytest.raises(RuntimeError, match=r"localarc\.many\.spark\.prepare"):
        calibrate(plain, Columns(key="key", order="order", score="score"), ARC(0.1), buckets=2)


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"key": "nobody"}, ValueError, "no column 'nobody'"),
    ({"key": "x"}, TypeError, "key must be text or integers"),
    ({"order": "x"}, TypeError, "order must be integers"),
    ({"key": "t", "order": "x", "score": "k"}, TypeError, "order must be integers"),
    ({"key": "t", "order": "t", "score": "k"}, ValueError, "each column can be used only once"),
    ({"loss": "x"}, ValueError, "pass either score= or loss="),
    ({"score": None}, ValueError, "pass either score= or loss="),
    ({"features": "x"}, TypeError, "a list of columns"),
    ({"features": ["s"]}, ValueError, "each column can be used only once"),
    ({"kind": "k"}, ValueError, "kind= and id= together"),
    ({"calibrator": ARC(0.1).update(None, 1.0)}, TypeError, "must be a new ARC, LARC or AutoLARC"),
    ({"calibrator": LARC(0.1, RBF.from_paper(1.0))}, ValueError, "none were named"),
    ({"calibrator": ARC(0.1, loss_bound=0.5)}, ValueError, "loss bound is 0.5"),
    ({"calibrator": AutoLARC(0.1), "score": None, "loss": "s"}, ValueError, "have no unit"),
    ({"buckets": 0}, ValueError, "buckets must be a whole number"),
    ({"buckets": 2**31}, ValueError, "at most"),
    ({"bad_rows": "ignore"}, ValueError, '"fail" or "reject"'),
    ({"frame": [1, 2]}, TypeError, "must be a Spark data frame, got list"),
]


@pytest.mark.parametrize(("change", "error", "says"), WRONG, ids=[says for *_, says in WRONG])
def test_what_cannot_work_is_rejected_before_anything_runs(
    spark: Any, change: dict[str, Any], error: type[Exception], says: str
) -> None:
    frame = spark.createDataFrame([("a", 1, 0.5, 0.5)], "k string, t int, s double, x double")
    usual = {"frame": frame, "key": "k", "order": "t", "score": "s"}
    with pytest.raises(error, match=says):
        calibrate(**keyed_settings(**usual | {"calibrator": ARC(0.1), "buckets": 2} | change))


def test_a_column_with_the_name_of_an_added_one_is_refused(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 1, 0.5, 0.5)], "k string, t int, s double, Loss double")
    with pytest.raises(ValueError, match="'Loss' is the name of a column that calibrate adds"):
        calibrate(frame, Columns(key="k", order="t", score="s"), ARC(0.1))


STRANGE = (
    "key bigint, order int, score double, big bigint, flag boolean, small float, day date, "
    "at timestamp, local timestamp_ntz, amount decimal(30,2), tags array<int>, raw binary, "
    "note string, `odd. name` int, pair struct<a:int,b:string,c:array<timestamp>>"
)
ROWS = [
    (2**53 + 1, 1, 0.5, 2**53 + 1, True, 0.1, date(2026, 1, 1), datetime(1, 2, 3, 4, 5, 6, 7),
     datetime(2026, 3, 29, 2, 30), Decimal("12345678901234567890.12"), [1, None], b"x", "a", 7,
     (1, "x", [datetime(2026, 1, 1)])),
    (2**53 + 1, 2, 1.5, None, None, None, None, None, None, None, None, None, None, None, None),
    (2**53 + 1, 3, 0.2, -1, False, float("nan"), date(1, 1, 1), datetime(9999, 12, 31), None, None,
     [], b"", "", 0, (None, None, None)),
]  # fmt: skip


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "batch"])
def test_columns_of_every_type_pass_through_unchanged(
    spark: Any, tmp_path: Path, streams: bool
) -> None:
    frame = spark.createDataFrame(ROWS, STRANGE)
    usual: dict[str, Any] = {"key": "key", "order": "order", "score": "score", "buckets": 2}
    if streams:
        frame.write.parquet(str(tmp_path / "in"))
        stream = spark.readStream.schema(frame.schema).parquet(str(tmp_path / "in"))
        run(calibrate(stream, **keyed_settings(**usual, calibrator=ARC(0.1))), tmp_path)
        found = spark.read.parquet(str(tmp_path / "out"))
    else:
        found = calibrate(frame, **keyed_settings(**usual, calibrator=ARC(0.1)))
    assert found.dtypes[: len(frame.dtypes)] == frame.dtypes
    passed = found.select(*(f"`{name}`" for name in frame.columns))
    assert str(passed.orderBy("order").collect()) == str(frame.orderBy("order").collect())


def test_late_losses_on_a_stream_are_those_of_one_process(spark: Any, tmp_path: Path) -> None:
    events, calibrator = late(dimension=1), LARC(0.1, RBF.from_paper(0.5))
    roles: dict[str, Any] = {"key": "key", "order": "order", "score": "score"}
    roles |= {"features": ["x0"], "kind": "kind", "id": "id", "calibrator": calibrator}
    stream = files(spark, events, tmp_path / "in", 3)
    run(calibrate(stream, **keyed_settings(**roles, buckets=2)), tmp_path)
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    expected = keyed_frames.calibrate(events, **keyed_settings(**roles))
    thresholds = {(r.key, r.order): r.threshold for r in expected.itertuples()}
    assert {(r.key, r.order): r.threshold for r in rows} == thresholds
    assert all((r.loss is None) == (r.covered is None) == (r.kind == "ask") for r in rows)
    again = calibrate(spark.createDataFrame(events), **keyed_settings(**roles)).collect()
    assert {(r.key, r.order): r.threshold for r in again} == thresholds


def test_a_restart_with_other_roles_is_refused_with_the_difference(
    spark: Any, tmp_path: Path
) -> None:
    from pyspark.errors import StreamingQueryException

    events = keyed(3, 4, dimension=2)
    usual: dict[str, Any] = {"key": "key", "order": "order", "calibrator": ARC(0.1), "buckets": 2}
    stream = files(spark, events[events["order"] <= 2], tmp_path / "in", 1)
    run(
        calibrate(stream, **keyed_settings(**usual, score="score", features=["x0", "x1"])), tmp_path
    )
    events[events["order"] > 2].to_parquet(tmp_path / "in" / "later.parquet", index=False)
    other = calibrate(stream, **keyed_settings(**usual, score="score", features=["x1", "x0"]))
    says = r"features=\['x0', 'x1'\], now it is \['x1', 'x0'\]"
    with pytest.raises(StreamingQueryException, match=says):
        run(other, tmp_path)


def test_a_watermark_serves_windows_after_calibration(spark: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions

    events = keyed(2, 8)
    events["at"] = pandas.Timestamp("2026-01-01", tz="UTC") + pandas.to_timedelta(
        events["order"], "h"
    )
    stream = files(spark, events, tmp_path / "in", 4).withWatermark("at", "1 hour")
    rows = calibrate(stream, Columns(key="key", order="order", score="score"), ARC(0.1), buckets=2)
    windows = rows.groupBy(functions.window("at", "2 hours")).agg(functions.count("*").alias("n"))
    run(windows, tmp_path)
    counts = [r.n for r in spark.read.parquet(str(tmp_path / "out")).orderBy("window").collect()]
    assert counts == [2, 4, 4]  # 6 to 8 h and 8 to 10 h are still open
