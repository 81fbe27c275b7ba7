"""One calibrator per key of a Spark frame, streaming or batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localarc import validation
from localarc.calibrators.auto import AutoLARC
from localarc.panel import Panel
from localarc.panel.streams import Prototype
from localarc.spark.columns import Columns, bucket_of
from localarc.spark.processor import BucketProcessor, Job
from localarc.spark.session import check_session, spark_sql

MAX_BUCKETS = 2**31 - 1


def calibrate(
    frame: Any,
    *,
    key: str,
    order: str,
    features: Sequence[str] = (),
    score: str | None = None,
    loss: str | None = None,
    calibrator: Prototype,
    buckets: int,
    initial: Any = None,
    bad_rows: str = "fail",
) -> Any:
    """Calibrate every key of a frame, and return one row per event with its threshold.

    Rows may arrive in any order within a micro-batch. A lost or repeated event stops the job.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        A streaming or batch frame.
    key : str
        Column of the key, text or integers.
    order : str
        Column that numbers the events of each key 1, 2, 3, ...
    features : sequence of str, default ()
        Columns of the input; required for L-ARC.
    score : str, optional
        Column of the score. Rows gain `threshold`, `loss` (1 where the score is above the
        threshold) and `covered`. Pass either `score` or `loss`.
    loss : str, optional
        Column of a known loss, which is only learned. Rows gain `next_threshold`, the threshold
        for the same input from then on.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses. AutoLARC learns from scores; with `loss` it
        must have a `unit` and a floor.
    buckets : int
        Number of rows of state, each with one bucket of keys. Choose it for about a thousand keys
        per bucket (a hundred with AutoLARC), and keep it for the lifetime of a checkpoint.
    initial : pyspark.sql.DataFrame, optional
        Saved calibrators from `import_state`.
    bad_rows : {"fail", "reject"}, default "fail"
        Whether a bad row stops the job, or is returned with the violated rule in `rejected`.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns above, under their own names, and the added ones.

    Examples
    --------
    >>> calibrate(frame, key="customer", order="n", score="score",
    ...           calibrator=ARC(alpha=0.1), buckets=64)  # doctest: +SKIP
    """
    columns = Columns.from_frame(frame, key, order, features, score, loss)
    validation.integer("buckets", buckets, 1, "One row of state holds one bucket of keys.")
    if buckets > MAX_BUCKETS:
        raise ValueError(f"buckets must be at most {MAX_BUCKETS}, got {buckets}.")
    if bad_rows not in ("fail", "reject"):
        raise ValueError(f'bad_rows must be "fail" or "reject", got {bad_rows!r}.')
    _check_calibrator(calibrator, columns)
    if frame.isStreaming:
        check_session(frame.sparkSession)
    rejects = bad_rows == "reject"
    learned = columns.select_input(frame, buckets).transformWithStateInPandas(
        _processor(calibrator, buckets, columns, rejects),
        outputStructType=columns.schema,
        outputMode="append",
        timeMode="none",
        initialState=_grouped(initial, buckets),
    )
    return columns.rename_output(learned, rejects)


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


def _check_calibrator(calibrator: Any, columns: Columns) -> None:
    Panel(calibrator)  # raises unless it is a new ARC, LARC or AutoLARC
    if not columns.given_losses and calibrator.loss_bound < 1.0:
        raise ValueError(
            f"a score above the threshold costs 1, and the calibrator's loss bound is "
            f"{calibrator.loss_bound}. Construct it with loss_bound=1.0, or pass losses."
        )
    if isinstance(calibrator, AutoLARC):
        if columns.given_losses:
            calibrator._checked_score(None)  # raises if thresholds would have no unit or no floor
        return
    if calibrator.settings.kernel is not None and not columns.features:
        raise ValueError(
            "a calibrator with a kernel requires features, and none were named. "
            'Name them, e.g. features=["x1", "x2"], or use ARC.'
        )


def _processor(
    calibrator: Prototype, buckets: int, columns: Columns, rejects: bool
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
            "initial must be the frame that localarc.spark.import_state returned, with columns "
            f"key, state and skipped; got {', '.join(initial.columns)}."
        )
    key = spark_sql().functions.col("key")
    return initial.withColumn("bucket", bucket_of(key, buckets)).groupBy("bucket")
