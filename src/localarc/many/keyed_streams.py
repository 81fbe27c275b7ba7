"""Keyed streams: frames that come one after another, and a state that can be saved in between."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Self, TypeVar

from localarc.many.checks import check_calibrator, rejects_bad_rows
from localarc.many.columns import Roles
from localarc.many.frames import Frame
from localarc.many.limits import Limits, check_delay
from localarc.many.panel import Panel
from localarc.many.panel.streams import Prototype
from localarc.many.rows import bucket_table as table
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.watermark import arrive
from localarc.serialization import StateError

FrameT = TypeVar("FrameT")
"""A frame: pandas, Polars, PyArrow or DuckDB."""


class KeyedStreams:
    """One calibrator per key, which learns from frames that come one after another.

    Parameters
    ----------
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
    key : str or sequence of str
        Column of the key, text or integers; several columns make a composite key.
    order : str, optional
        Column that numbers the events of each key 1, 2, 3, ...; by default rows are in order.
    features : sequence of str, default ()
        Columns of the input; required for L-ARC.
    score : str, optional
        Column of the score. Pass either `score` or `loss`.
    loss : str, optional
        Column of a known loss.
    kind : str, optional
        Column with "ask" or "learn", where losses come late.
    id : str, optional
        Column that an ask and the row that learns its outcome share; with `kind`.
    width : str, optional
        Column of the width of the interval at threshold 0, in units of the score.
    time : str, optional
        Column of the time of each event, in place of `order`. Rows wait until the watermark, the
        latest time so far less `delay`, has passed them, and are learned by time and id. Rows that
        come later are rejected as late; with `id`, repeated ones as repeated events.
    delay : timedelta, optional
        How late rows may come; required with `time`.
    ttl : timedelta, optional
        A key without events for longer than this starts anew, and is dropped once the watermark has
        passed; with `time`.
    max_pending : int, optional
        How many asks of a key can be pending; one more, and the oldest is given up. Its outcome is
        then rejected as an unknown id.
    initial : path-like, optional
        A Parquet file of keyed streams to start from, such as one of the service; unlike in
        `load`, its columns may have had other names.

    Examples
    --------
    >>> import pyarrow
    >>> from localarc import ARC
    >>> from localarc.many import KeyedStreams
    >>> streams = KeyedStreams(ARC(alpha=0.1), key="who", score="score")
    >>> for score in (0.7, 0.1):
    ...     rows = streams.calibrate(pyarrow.table({"who": ["ann"], "score": [score]}))
    >>> rows["threshold"].to_pylist(), streams.panel.rounds_of(["ann"]).tolist()
    ([0.9], [2])
    """

    def __init__(
        self,
        calibrator: Prototype,
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
        delay: timedelta | None = None,
        ttl: timedelta | None = None,
        max_pending: int | None = None,
        initial: str | os.PathLike[str] | None = None,
    ) -> None:
        roles = Roles.checked(
            key=key, order=order, features=features, score=score, loss=loss, kind=kind, id=id,
            width=width, time=time,
        )  # fmt: skip
        check_calibrator(calibrator, roles)
        check_delay(roles, delay)
        limits = Limits.checked(roles, delay=delay, ttl=ttl, max_pending=max_pending)
        self._bucket = Bucket.new(calibrator, roles, limits)
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
        >>> streams = KeyedStreams(ARC(alpha=0.1), key="who", score="score")
        >>> streams.calibrate(pyarrow.table({"who": ["ann"], "score": [0.7]})).column_names
        ['who', 'score', 'threshold', 'loss', 'covered']
        """
        rejects, events = rejects_bad_rows(bad_rows), Frame(frame)
        made: FrameT
        if self._bucket.roles.time is None:
            made = self._bucket.whole(lambda: self._calibrate_in_place(events, rejects))
            return made
        self._check(events, rejects)
        given = events.table()
        rows = self._bucket.whole(lambda: arrive(self._bucket, given, rejects, last=last))
        made = events.like(rows)
        return made

    def _check(self, events: Frame, rejects: bool) -> None:
        self._bucket.roles.check_columns(events.columns)
        self._bucket.roles.check_added(events.columns, rejects)

    def _calibrate_in_place(self, events: Frame, rejects: bool) -> Any:
        """Rows of a frame that is complete stay where they are."""
        self._check(events, rejects)
        added = self._bucket.calibrate(events.table(self._bucket.roles.columns), rejects)
        return events.plus(added.table(rejects))

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
        if rows is not None and not set(bucket.roles.columns) <= set(rows.column_names):
            raise StateError(
                f"{path}: {len(bucket.waiting)} rows wait for Spark's watermark, and only a stream "
                "of Spark can continue them: localarc.many.spark.import_state."
            )
        return streams
