"""One calibrator per key of a Spark frame, streaming or batch."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from localarc import validation
from localarc.many.checks import check_settings, rejects_bad_rows
from localarc.many.columns import Columns
from localarc.many.limits import Limits
from localarc.many.panel.streams import Prototype
from localarc.many.spark.batch import Batch
from localarc.many.spark.packed_columns import BUCKET, PackedColumns
from localarc.many.spark.processor import BucketProcessor, Job
from localarc.many.spark.schema import added_schema, bucket_of, check_frame, key_text
from localarc.many.spark.session import check_session, spark_sql

MAX_BUCKETS = 2**31 - 1


def calibrate(
    frame: Any,
    columns: Columns,
    calibrator: Prototype,
    *,
    limits: Limits = Limits(),  # noqa: B008
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
    columns : Columns
        What the columns mean, `order` or `time` among them. A stream must have a watermark on
        `time`: rows are returned once the watermark has passed them.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses. AutoLARC learns from scores; with `loss` it
        must have a `unit` and a floor.
    limits : Limits, default Limits()
        How long keys are kept, and how many asks are pending.
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
    >>> columns = Columns(key="customer", order="n", score="score")
    >>> calibrate(frame, columns, ARC(alpha=0.1), buckets=64)  # doctest: +SKIP
    """
    spark_sql()  # raises if it is missing
    if columns.order is None and columns.time is None:
        raise ValueError("rows of a Spark frame have no order: name a column of order= or time=.")
    rejects = rejects_bad_rows(bad_rows)
    check_frame(frame, columns, rejects)
    check_settings(columns, calibrator, limits, delays=False)
    _check_buckets(buckets, frame.isStreaming)
    saved = _check_initial(initial)
    if not frame.isStreaming:
        return Batch(columns, calibrator, limits, rejects, saved).run(frame, buckets, initial)
    check_session(frame.sparkSession)
    packed = PackedColumns.of(frame)
    if columns.time is not None:
        packed = packed.holding_rows()
        delay = timedelta(milliseconds=packed.delay)  # for those who continue its state
        limits = replace(limits, delay=delay)
    job = Job(columns, calibrator, int(buckets or 0), packed, rejects, saved, limits)
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
    packed, added = job.packed, added_schema(job.columns, job.rejects)
    bucket = bucket_of(key_text(job.columns.keys), job.buckets).alias(BUCKET)
    learned = frame.select(bucket, *packed.pack()).groupBy(BUCKET)
    saved = None
    if initial is not None:
        key = spark_sql().functions.col("key")
        saved = initial.withColumn(BUCKET, bucket_of(key, job.buckets)).groupBy(BUCKET)
    rows = learned.transformWithStateInPandas(
        BucketProcessor(job),
        outputStructType=f"{BUCKET} int, {packed.schema}, {added}",
        outputMode="append",
        timeMode="eventtime" if packed.event_time or job.columns.time else "none",
        initialState=saved,
        eventTimeColumnName=packed.event_time_alias,
    )
    names = [name.split()[0] for name in added.split(", ")]
    return rows.select(*packed.unpack(), *names)
