"""One calibrator per key of a Spark frame, streaming or batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from localarc import validation
from localarc.many.checks import check_calibrator, rejects_bad_rows
from localarc.many.columns import Roles
from localarc.many.limits import Limits
from localarc.many.panel.streams import Prototype
from localarc.many.spark.batch import Batch
from localarc.many.spark.packed_columns import BUCKET, PassingColumns
from localarc.many.spark.processor import BucketProcessor, Job
from localarc.many.spark.schema import added_schema, bucket_of, check_frame, key_text
from localarc.many.spark.session import check_session, spark_sql

MAX_BUCKETS = 2**31 - 1


def calibrate(
    frame: Any,
    *,
    key: str | Sequence[str],
    order: str | None = None,
    features: Sequence[str] = (),
    score: str | None = None,
    loss: str | None = None,
    kind: str | None = None,
    id: str | None = None,  # noqa: A002
    width: str | None = None,
    time: str | None = None,
    ttl: timedelta | None = None,
    max_pending: int | None = None,
    calibrator: Prototype,
    buckets: int | None = None,
    initial: Any = None,
    bad_rows: str = "fail",
) -> Any:
    """Calibrate every key of a frame, and return its rows with thresholds and losses added.

    The rules and columns are those of `localarc.many.calibrate`. On a stream, rows may arrive in
    any order within a micro-batch, and a lost or repeated event stops the job.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        A streaming or batch frame. Every column passes through.
    key : str or sequence of str
        Column of the key, text or integers; several columns make a composite key.
    order : str, optional
        Column that numbers the events of each key 1, 2, 3, ... Pass either `order` or `time`.
    features : sequence of str, default ()
        Columns of the input; required for L-ARC.
    score : str, optional
        Column of the score. Rows gain `threshold`, `loss` (1 where the score is above the
        threshold) and `covered`. Pass either `score` or `loss`.
    loss : str, optional
        Column of a known loss, which is only learned. Rows gain `next_threshold`, the threshold
        for the same input from then on.
    kind : str, optional
        Column with "ask" or "learn", where losses come late. An ask gets a `threshold`; a row that
        learns brings the score or loss of an ask, and gains its `threshold`, `loss` and `covered`.
    id : str, optional
        Column that an ask and the row that learns its outcome share, text or integers; with `kind`.
    width : str, optional
        Column of the width of the interval at threshold 0, in units of the score. Rows with a new
        threshold gain the `size` of the interval.
    time : str, optional
        Column of the time of each event. A stream must have a watermark on it: rows are returned,
        learned by time and `id`, once the watermark has passed them, and late rows are rejected.
    ttl : timedelta, optional
        A key without events for longer than this starts anew, and is dropped once the watermark has
        passed; with `time`.
    max_pending : int, optional
        How many asks of a key can be pending; one more, and the oldest is given up.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses. AutoLARC learns from scores; with `loss` it
        must have a `unit` and a floor.
    buckets : int, optional
        Number of groups of keys. A stream requires it: each is one row of state. Choose it for
        about a thousand keys per bucket (a hundred with AutoLARC), and keep it for the lifetime of
        a checkpoint. For a batch frame the default is four per shuffle partition.
    initial : pyspark.sql.DataFrame, optional
        Saved calibrators from `import_state`.
    bad_rows : {"fail", "reject"}, default "fail"
        Whether a bad row stops the job, or is returned with the violated rule in `rejected`.

    Returns
    -------
    pyspark.sql.DataFrame
        The rows, with the added columns last.

    Examples
    --------
    >>> calibrate(frame, key="customer", order="n", score="score",
    ...           calibrator=ARC(alpha=0.1), buckets=64)  # doctest: +SKIP
    """
    spark_sql()  # raises if it is missing
    roles = Roles.checked(
        key=key, order=order, features=features, score=score, loss=loss, kind=kind, id=id,
        width=width, time=time,
    )  # fmt: skip
    if order is None and time is None:
        raise ValueError("rows of a Spark frame have no order: name a column of order= or time=.")
    limits = Limits.checked(roles, ttl=ttl, max_pending=max_pending)
    rejects = rejects_bad_rows(bad_rows)
    check_frame(frame, roles, rejects)
    check_calibrator(calibrator, roles)
    _check_buckets(buckets, frame.isStreaming)
    saved = _check_initial(initial)
    if not frame.isStreaming:
        return Batch(calibrator, roles, limits, rejects, saved).run(frame, buckets, initial)
    check_session(frame.sparkSession)
    columns = PassingColumns.of(frame)
    if time is not None:
        columns = columns.holding_rows()
        limits = replace(limits, delay=columns.delay * 1000)  # for those who continue its state
    job = Job(calibrator, int(buckets or 0), roles, columns, rejects, saved, limits)
    return _stream(frame, job, initial)


def accepted(frame: Any) -> Any:
    """Return the rows that were learned, of a frame from `calibrate(..., bad_rows="reject")`.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The result of `calibrate`, or a table that it was written to.
    """
    return frame.where("rejected IS NULL").drop("rejected")


def rejected(frame: Any) -> Any:
    """Return the bad rows, with the violated rule, of a frame from `calibrate`.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The result of `calibrate(..., bad_rows="reject")`, or a table that it was written to.
    """
    return frame.where("rejected IS NOT NULL")


def _check_buckets(buckets: int | None, streaming: bool) -> None:
    if buckets is None and not streaming:
        return
    validation.integer("buckets", buckets, 1, "One row of state holds one bucket of keys.")
    if buckets is not None and buckets > MAX_BUCKETS:
        raise ValueError(f"buckets must be at most {MAX_BUCKETS}, got {buckets}.")


def _check_initial(initial: Any) -> str:
    """The metadata of a state from a Parquet file; empty for states of single keys."""
    if initial is None:
        return ""
    fields = {field.name: field for field in initial.schema.fields}
    metadata = fields["key"].metadata.get("localarc", "") if "key" in fields else ""
    wanted = {"key": "string", "state": "binary", "skipped": "bigint"}
    if not metadata and dict(initial.dtypes) != wanted:
        raise TypeError(
            "initial must be the frame that localarc.many.spark.import_state returned, got one "
            f"with columns {', '.join(initial.columns)}."
        )
    return str(metadata)


def _stream(frame: Any, job: Job, initial: Any) -> Any:
    """The rows of a streaming frame, through a stateful processor."""
    from pyspark.sql.streaming import StatefulProcessor

    StatefulProcessor.register(BucketProcessor)
    columns, added = job.columns, added_schema(job.roles, job.rejects)
    bucket = bucket_of(key_text(job.roles.key), job.buckets).alias(BUCKET)
    learned = frame.select(bucket, *columns.pack()).groupBy(BUCKET)
    saved = None
    if initial is not None:
        key = spark_sql().functions.col("key")
        saved = initial.withColumn(BUCKET, bucket_of(key, job.buckets)).groupBy(BUCKET)
    rows = learned.transformWithStateInPandas(
        BucketProcessor(job),
        outputStructType=f"{BUCKET} int, {columns.schema}, {added}",
        outputMode="append",
        timeMode="eventtime" if columns.event_time or job.roles.time else "none",
        initialState=saved,
        eventTimeColumnName=columns.event_time_alias,
    )
    names = [name.split()[0] for name in added.split(", ")]
    return rows.select(*columns.unpack(), *names)
