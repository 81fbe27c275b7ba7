"""Calibrate: one calibrator for each key of a Spark frame, streaming or batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localarc import validation
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.panel import Panel
from localarc.spark.columns import Columns, bucket_of
from localarc.spark.processor import BucketProcessor, Job
from localarc.spark.session import check, spark_sql

MOST_BUCKETS = 2**31 - 1


def calibrate(
    frame: Any,
    *,
    key: str,
    order: str,
    features: Sequence[str] = (),
    score: str | None = None,
    loss: str | None = None,
    calibrator: AdaptiveCalibrator,
    buckets: int,
    initial: Any = None,
    bad_rows: str = "fail",
) -> Any:
    """One row for each event, with the threshold of its key's calibrator, which learns as it goes.

    `order` numbers the events of each key 1, 2, 3, ...: rows may come in any order within a
    micro-batch, and a lost or repeated event stops the job. With `score`, rows gain `threshold`,
    `loss` (1 where the score is above the threshold) and `covered`; with `loss`, which is then only
    learnt, `next_threshold`: what the same input would get from now on.

    A row of state holds a bucket of keys: choose `buckets` for about a thousand keys in each, and
    keep the number for the life of a checkpoint. `initial` is what `import_state` made. With
    `bad_rows="reject"` bad rows come out too, with the rule that they broke in `rejected`.
    """
    columns = Columns.checked(frame, key, order, features, score, loss)
    validation.integer("buckets", buckets, 1, "A row of state holds one bucket of keys.")
    if buckets > MOST_BUCKETS:
        raise ValueError(f"buckets must be at most {MOST_BUCKETS}, got {buckets}.")
    if bad_rows not in ("fail", "reject"):
        raise ValueError(f'bad_rows must be "fail" or "reject", got {bad_rows!r}.')
    _check_calibrator(calibrator, columns)
    if frame.isStreaming:
        check(frame.sparkSession)
    rejects = bad_rows == "reject"
    learnt = columns.prepared(frame, buckets).transformWithStateInPandas(
        _processor(calibrator, buckets, columns, rejects),
        outputStructType=columns.schema,
        outputMode="append",
        timeMode="none",
        initialState=_grouped(initial, buckets),
    )
    return columns.named(learnt, rejects)


def accepted(frame: Any) -> Any:
    """The rows that were learnt, of a frame made with `bad_rows="reject"`."""
    return frame.where("rejected IS NULL").drop("rejected")


def rejected(frame: Any) -> Any:
    """The bad rows, of a frame made with `bad_rows="reject"`, with the rule each one broke."""
    return frame.where("rejected IS NOT NULL")


def _check_calibrator(calibrator: Any, columns: Columns) -> None:
    Panel(calibrator)  # raises unless it is a new ARC or LARC
    if not columns.given_losses and calibrator.loss_bound < 1.0:
        raise ValueError(
            f"a score above the threshold costs 1, and the calibrator's loss bound is "
            f"{calibrator.loss_bound}. Construct it with loss_bound=1.0, or give losses."
        )
    if calibrator.settings.kernel is not None and not columns.features:
        raise ValueError(
            "a calibrator with a kernel looks at features, and none were named. "
            'Name them, e.g. features=["x1", "x2"], or use ARC.'
        )


def _processor(
    calibrator: AdaptiveCalibrator, buckets: int, columns: Columns, rejects: bool
) -> BucketProcessor:
    from pyspark.sql.streaming import StatefulProcessor

    StatefulProcessor.register(BucketProcessor)
    dimension, given_losses = len(columns.features), columns.given_losses
    return BucketProcessor(Job(calibrator, buckets, dimension, given_losses, rejects))


def _grouped(initial: Any, buckets: int) -> Any:
    if initial is None:
        return None
    if dict(initial.dtypes) != {"key": "string", "state": "binary", "skipped": "bigint"}:
        raise TypeError(
            "initial must be the frame that localarc.spark.import_state made, with the columns "
            f"key, state and skipped; got {', '.join(initial.columns)}."
        )
    key = spark_sql().functions.col("key")
    return initial.withColumn("bucket", bucket_of(key, buckets)).groupBy("bucket")
