"""Keyed streams: frames that come one after another, and a state that can be saved in between."""

from __future__ import annotations

import copy
import os
from typing import Self

from localarc.many.calibrate import FrameT, calibrated
from localarc.many.checks import check_settings, rejects_bad_rows
from localarc.many.columns import Columns
from localarc.many.frames import Frame
from localarc.many.limits import Limits
from localarc.many.panel import Panel
from localarc.many.panel.streams import Prototype
from localarc.many.rows import bucket_table as table
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.watermark import arrive
from localarc.serialization import StateError


class KeyedStreams:
    """One calibrator per key, which learns from frames that come one after another.

    Parameters
    ----------
    columns : Columns
        What the columns mean.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
    limits : Limits, default Limits()
        How late rows may come, how long keys are kept, and how many asks are pending.
    initial : path-like, optional
        A Parquet file of keyed streams to start from, such as one of the service; unlike in
        `load`, its columns may have had other names.

    Examples
    --------
    >>> import pyarrow
    >>> from localarc import ARC
    >>> from localarc.many import Columns, KeyedStreams
    >>> streams = KeyedStreams(Columns(key="who", score="score"), ARC(alpha=0.1))
    >>> for score in (0.7, 0.1):
    ...     rows = streams.calibrate(pyarrow.table({"who": ["ann"], "score": [score]}))
    >>> rows["threshold"].to_pylist(), streams.panel.rounds_of(["ann"]).tolist()
    ([0.9], [2])
    """

    def __init__(
        self,
        columns: Columns,
        calibrator: Prototype,
        *,
        limits: Limits = Limits(),  # noqa: B008
        initial: str | os.PathLike[str] | None = None,
    ) -> None:
        check_settings(columns, calibrator, limits, delays=True)
        self._bucket = Bucket.new(calibrator, columns, limits)
        if initial is not None:
            table.seed(self._bucket, table.read_table(initial))

    def __copy__(self) -> Self:
        """Separate streams: nothing that was learned is shared."""
        return copy.deepcopy(self)

    @property
    def panel(self) -> Panel:
        """The panel of all keys, which later frames change."""
        return self._bucket.panel

    @property
    def pending(self) -> int:
        """How many asks wait for their losses."""
        return len(self._bucket.pending)

    @property
    def waiting(self) -> int:
        """How many rows wait for the watermark."""
        return len(self._bucket.waiting)

    def calibrate(self, frame: FrameT, bad_rows: str = "fail", *, last: bool = False) -> FrameT:
        """Learn the rows of a frame, and return them with thresholds and losses added.

        With `time`, the rows that are returned are those that the watermark has passed, of this
        frame and of earlier ones, and late ones.

        Parameters
        ----------
        frame : DataFrame of pandas or Polars, Table of PyArrow, or DuckDBPyRelation
            The events. Every column passes through, and rows stay where they are.
        bad_rows : {"fail", "reject"}, default "fail"
            Whether a bad row raises BadRowError and nothing changes, or is returned with the
            violated rule in `rejected`.
        last : bool, default False
            With `time`: whether no earlier events will come, so that no row waits.

        Examples
        --------
        >>> import pyarrow
        >>> from localarc import ARC
        >>> from localarc.many import Columns
        >>> streams = KeyedStreams(Columns(key="who", score="score"), ARC(alpha=0.1))
        >>> streams.calibrate(pyarrow.table({"who": ["ann"], "score": [0.7]})).column_names
        ['who', 'score', 'threshold', 'loss', 'covered']
        """
        rejects, events = rejects_bad_rows(bad_rows), Frame(frame)
        bucket = self._bucket
        made: FrameT
        if bucket.columns.time is None:
            made = bucket.whole(lambda: calibrated(bucket, events, rejects))
            return made
        bucket.columns.check(events.columns, rejects)
        given = events.table()
        made = events.like(bucket.whole(lambda: arrive(bucket, given, rejects, last=last)))
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a Parquet file with one row per key, atomically.

        Parameters
        ----------
        path : path-like
            The file, replaced if it exists.
        """
        table.write(self._bucket, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], calibrator: Prototype | None = None) -> Self:
        """Return the streams that `save` wrote, or that Spark exported.

        Parameters
        ----------
        path : path-like
            A Parquet file of keyed streams.
        calibrator : ARC, LARC or AutoLARC, optional
            A new calibrator with the same settings. Required if its kernel or rate is a function of
            yours: functions are not stored.
        """
        streams = cls.__new__(cls)
        bucket = streams._bucket = table.from_table(table.read_table(path), calibrator, None)
        rows = bucket.waiting.rows
        if rows is not None and not set(bucket.columns.names) <= set(rows.column_names):
            raise StateError(
                f"{path}: {len(bucket.waiting)} rows wait for Spark's watermark, and only a stream "
                "of Spark can continue them: localarc.many.spark.import_state."
            )
        return streams
