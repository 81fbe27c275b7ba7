"""Keyed streams on a real Spark: streaming, batch, bad rows, and invalid arguments."""

from pathlib import Path
from typing import Any

import pytest

from localarc import ARC, LARC, RBF, AutoLARC
from localarc.spark import accepted, calibrate, rejected
from spark.streams import alone, keyed, write


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
        calibrate(stream, key="key", order="order", score="score", calibrator=ARC(0.1), buckets=4),
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
        key="key",
        order="order",
        features=["x0", "x1"],
        score="score",
        calibrator=calibrator,
        buckets=2,
    )
    assert dict(rows.dtypes)["key"] == "bigint"  # integers stay integers
    found = {(f"key {r.key}", r.order): r.threshold for r in rows.collect()}
    assert found == alone(events, calibrator)[1]


def test_given_losses_are_learned_and_the_next_threshold_is_returned(spark: Any) -> None:
    frame = spark.createDataFrame([("a", 2, 0.0), ("a", 1, 1.0)], "who string, t int, loss double")
    rows = calibrate(frame, key="who", order="t", loss="loss", calibrator=ARC(0.1), buckets=1)
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
    made = calibrate(frame, key="k", order="t", score="s", calibrator=ARC(0.1), buckets=2)
    with pytest.raises(PythonException, match=f"BadRowError: {rule}: key {row[0]!r}, order"):
        made.collect()


def test_bad_rows_are_collected_when_asked(spark: Any, tmp_path: Path) -> None:
    columns = "k string, t int, s double"
    good = [("a", 1, 0.5), ("b", 1, 0.5), ("b", 2, 0.5)]
    frame = spark.createDataFrame([*good, *(row for _, row in BAD[2:]), BAD[0][1]], columns)
    made = calibrate(
        frame, key="k", order="t", score="s", calibrator=ARC(0.1), buckets=2, bad_rows="reject"
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
    made = calibrate(
        stream, key="key", order="order", score="score", calibrator=ARC(0.1), buckets=2
    )
    with pytest.raises(StreamingQueryException, match="repeated order: key 'key"):
        run(made, tmp_path)


def test_good_and_bad_rows_of_one_sink_can_be_separated(spark: Any, tmp_path: Path) -> None:
    events = keyed(4, 3)
    events.loc[3, "score"] = float("nan")
    stream = files(spark, events, tmp_path / "in", 2)
    made = calibrate(
        stream,
        key="key",
        order="order",
        score="score",
        calibrator=ARC(0.1),
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
    with pytest.raises(RuntimeError, match=r"localarc\.spark\.prepare"):
        calibrate(plain, key="key", order="order", score="score", calibrator=ARC(0.1), buckets=2)


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"key": "nobody"}, ValueError, "no column 'nobody'"),
    ({"key": "s"}, TypeError, "key must be text or integers"),
    ({"order": "s"}, TypeError, "order must be integers"),
    ({"score": "k"}, TypeError, "must be numbers, column 'k' is string"),
    ({"loss": "x"}, ValueError, "pass either score= or loss="),
    ({"score": None}, ValueError, "pass either score= or loss="),
    ({"features": "x"}, TypeError, "a list of columns"),
    ({"features": ["s"]}, ValueError, "each column can be used only once"),
    ({"features": ["threshold"]}, ValueError, "name of a column that calibrate adds"),
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
    frame = spark.createDataFrame(
        [("a", 1, 0.5, 0.5, 0.5)], "k string, t int, s double, x double, threshold double"
    )
    usual = {"frame": frame, "key": "k", "order": "t", "score": "s"}
    with pytest.raises(error, match=says):
        calibrate(**(usual | {"calibrator": ARC(0.1), "buckets": 2} | change))
