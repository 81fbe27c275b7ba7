"""One calibrator per key of a frame, in one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from localarc.calibrators.auto import AutoLARC
from localarc.keyed.bucket import Bucket
from localarc.keyed.frames import Frame
from localarc.keyed.roles import Roles
from localarc.panel import Panel
from localarc.panel.streams import Prototype

FrameT = TypeVar("FrameT")
"""A frame: pandas, Polars, PyArrow or DuckDB."""


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
    width : str, optional
        Column of the width of the interval at threshold 0, in units of the score: 0 for
        `prediction +- threshold`. Rows with a new threshold gain the `size` of the interval.
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
    >>> from localarc.keyed import calibrate
    >>> events = pyarrow.table({"who": ["ann", "bob", "ann"], "score": [0.7, -0.2, 0.1]})
    >>> rows = calibrate(events, key="who", score="score", calibrator=ARC(alpha=0.1))
    >>> rows["threshold"].to_pylist(), rows["loss"].to_pylist()
    ([0.0, 0.0, 0.9], [1.0, 0.0, 0.0])
    """
    roles = Roles.checked(
        key=key, order=order, features=features, score=score, loss=loss, kind=kind, id=id,
        width=width,
    )  # fmt: skip
    check_calibrator(calibrator, roles)
    rejects = rejects_bad_rows(bad_rows)
    events = Frame(frame)
    events.check_names(roles.columns)
    roles.check_added(events.columns, rejects)
    added = Bucket.new(calibrator, roles).calibrate(events.table(roles.columns), rejects)
    made: FrameT = events.plus(added.table(rejects))
    return made


def rejects_bad_rows(bad_rows: str) -> bool:
    """Whether bad rows are returned; raises ValueError unless that was said."""
    if bad_rows not in ("fail", "reject"):
        raise ValueError(f'bad_rows must be "fail" or "reject", got {bad_rows!r}.')
    return bad_rows == "reject"


def check_calibrator(calibrator: Any, roles: Roles) -> None:
    """Raise unless the calibrator can learn what rows with these roles bring."""
    Panel(calibrator)  # raises unless it is a new ARC, LARC or AutoLARC
    if not roles.given_losses and calibrator.loss_bound < 1.0:
        raise ValueError(
            f"a score above the threshold costs 1, and the calibrator's loss bound is "
            f"{calibrator.loss_bound}. Construct it with loss_bound=1.0, or pass losses."
        )
    if isinstance(calibrator, AutoLARC):
        if roles.given_losses:
            calibrator._checked_score(None)  # raises if thresholds would have no unit or no floor
        return
    if calibrator.settings.kernel is not None and not roles.features:
        raise ValueError(
            "a calibrator with a kernel requires features, and none were named. "
            'Name them, e.g. features=["x1", "x2"], or use ARC.'
        )
