"""One calibrator per key of a frame, in one process."""

from __future__ import annotations

from typing import Any, TypeVar

from localarc.many.checks import check_settings, rejects_bad_rows
from localarc.many.columns import Columns
from localarc.many.frames import Frame
from localarc.many.limits import Limits
from localarc.many.panel.streams import Prototype
from localarc.many.rows.bucket import Bucket

FrameT = TypeVar("FrameT")
"""A frame: pandas, Polars, PyArrow or DuckDB."""


def calibrate(
    frame: FrameT,
    columns: Columns,
    calibrator: Prototype,
    *,
    limits: Limits = Limits(),  # noqa: B008
    bad_rows: str = "fail",
) -> FrameT:
    """Calibrate every key of a frame, and return its rows with thresholds and losses added.

    Parameters
    ----------
    frame : DataFrame of pandas or Polars, Table of PyArrow, or DuckDBPyRelation
        The events. Every column passes through, and rows stay where they are.
    columns : Columns
        What the columns mean.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
    limits : Limits, default Limits()
        How long keys are kept, and how many asks are pending.
    bad_rows : {"fail", "reject"}, default "fail"
        Whether a bad row raises BadRowError, or is returned with the violated rule in `rejected`.

    Returns
    -------
    the type of `frame`
        The rows, with the added columns last.

    Examples
    --------
    >>> import pyarrow
    >>> from localarc import ARC
    >>> from localarc.many import Columns, calibrate
    >>> events = pyarrow.table({"who": ["ann", "bob", "ann"], "score": [0.7, -0.2, 0.1]})
    >>> rows = calibrate(events, Columns(key="who", score="score"), ARC(alpha=0.1))
    >>> rows["threshold"].to_pylist(), rows["loss"].to_pylist()
    ([0.0, 0.0, 0.9], [1.0, 0.0, 0.0])
    """
    check_settings(columns, calibrator, limits, delays=False)
    rejects = rejects_bad_rows(bad_rows)
    made: FrameT = calibrated(Bucket.new(calibrator, columns, limits), Frame(frame), rejects)
    return made


def calibrated(bucket: Bucket, events: Frame, rejects: bool) -> Any:
    """Learn the rows of a frame that is complete; they stay where they are, with results added."""
    bucket.columns.check(events.columns, rejects)
    results = bucket.calibrate(events.table(bucket.columns.names), rejects)
    return events.plus(results.table(rejects))
