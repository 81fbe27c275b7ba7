"""One calibrator per key of a frame, in one process."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from localarc.many.checks import rejects_bad_rows
from localarc.many.frames import Frame
from localarc.many.keyed_streams import FrameT, KeyedStreams
from localarc.many.panel.streams import Prototype


def calibrate(
    frame: FrameT,
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
    bad_rows: str = "fail",
) -> FrameT:
    """Calibrate every key of a frame, and return its rows with thresholds and losses added.

    Parameters
    ----------
    frame : DataFrame of pandas or Polars, Table of PyArrow, or DuckDBPyRelation
        The events. Every column passes through, and rows stay where they are.
    key : str or sequence of str
        Column of the key, text or integers; several columns make a composite key.
    order : str, optional
        Column that numbers the events of each key 1, 2, 3, ...; by default rows are in order.
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
        With `time`, what orders events of the same time, and shows that one is repeated.
    width : str, optional
        Column of the width of the interval at threshold 0, in units of the score: 0 for
        `prediction +- threshold`. Rows with a new threshold gain the `size` of the interval.
    time : str, optional
        Column of the time of each event, in place of `order`: rows are learned by time and id.
    ttl : timedelta, optional
        A key without events for longer than this starts anew; with `time`.
    max_pending : int, optional
        How many asks of a key can be pending; one more, and the oldest is given up. Its outcome is
        then an unknown id.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
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
    >>> from localarc.many import calibrate
    >>> events = pyarrow.table({"who": ["ann", "bob", "ann"], "score": [0.7, -0.2, 0.1]})
    >>> rows = calibrate(events, key="who", score="score", calibrator=ARC(alpha=0.1))
    >>> rows["threshold"].to_pylist(), rows["loss"].to_pylist()
    ([0.0, 0.0, 0.9], [1.0, 0.0, 0.0])
    """
    streams = KeyedStreams(
        calibrator, key=key, order=order, features=features, score=score, loss=loss, kind=kind,
        id=id, width=width, time=time, ttl=ttl, max_pending=max_pending,
        delay=None if time is None else timedelta(0),
    )  # fmt: skip
    made: FrameT = streams._calibrate_in_place(Frame(frame), rejects_bad_rows(bad_rows))
    return made
