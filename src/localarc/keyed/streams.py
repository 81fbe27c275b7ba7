"""Keyed streams: frames that come one after another, and a state that can be saved in between."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Self, TypeVar

from localarc.keyed import table
from localarc.keyed.bucket import Bucket
from localarc.keyed.check import check_calibrator, rejects_bad_rows
from localarc.keyed.frames import Frame
from localarc.keyed.roles import Roles
from localarc.panel import Panel
from localarc.panel.streams import Prototype

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

    Examples
    --------
    >>> import pyarrow
    >>> from localarc import ARC
    >>> from localarc.keyed import KeyedStreams
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
    ) -> None:
        roles = Roles.checked(
            key=key, order=order, features=features, score=score, loss=loss, kind=kind, id=id,
            width=width,
        )  # fmt: skip
        check_calibrator(calibrator, roles)
        self._bucket = Bucket.new(calibrator, roles)

    @property
    def panel(self) -> Panel:
        """The panel of all keys, which later frames change."""
        return self._bucket.panel

    @property
    def pending(self) -> int:
        """How many asks wait for their losses."""
        return len(self._bucket.pending)

    def calibrate(self, frame: FrameT, bad_rows: str = "fail") -> FrameT:
        """Learn the rows of a frame, and return them with thresholds and losses added.

        Parameters
        ----------
        frame : DataFrame of pandas or Polars, Table of PyArrow, or DuckDBPyRelation
            The events. Every column passes through, and rows stay where they are.
        bad_rows : {"fail", "reject"}, default "fail"
            Whether a bad row raises BadRowError and nothing changes, or is returned with the
            violated rule in `rejected`.

        Examples
        --------
        >>> import pyarrow
        >>> from localarc import ARC
        >>> streams = KeyedStreams(ARC(alpha=0.1), key="who", score="score")
        >>> streams.calibrate(pyarrow.table({"who": ["ann"], "score": [0.7]})).column_names
        ['who', 'score', 'threshold', 'loss', 'covered']
        """
        rejects, roles, events = rejects_bad_rows(bad_rows), self._bucket.roles, Frame(frame)
        roles.check_columns(events.columns)
        roles.check_added(events.columns, rejects)
        added = self._bucket.calibrate(events.table(roles.columns), rejects)
        made: FrameT = events.plus(added.table(rejects))
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
        streams._bucket = table.from_table(table.read_table(path), calibrator, None)
        return streams
