"""A keyed job over files on one machine, which resumes where it stopped."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from localarc.many.checks import rejects_bad_rows
from localarc.many.columns import Roles
from localarc.many.jobs.files import Files
from localarc.many.jobs.job import Job
from localarc.many.limits import Limits, check_delay
from localarc.many.panel.streams import Prototype


def run_files(
    files: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
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
    last: bool = False,
    calibrator: Prototype,
    shards: int = 2,
    jobs: int | None = -1,
    bad_rows: str = "fail",
    initial: str | os.PathLike[str] | None = None,
) -> int:
    """Calibrate the events of files, one file after another, and resume where it stopped.

    Call it again with more files: those that were learned are not read again. A run that was
    killed, at any moment, is continued in the same way; every row is written once.

    Parameters
    ----------
    files : sequence of path-like
        Parquet, CSV or NDJSON files of events, in the order in which they are learned.
    folder : path-like
        The folder of the job: `rows` has one Parquet file per file of events and shard, and
        `state` one per shard, which `KeyedStreams.load` reads.
    key, order, features, score, loss, kind, id, width, time
        The roles of columns, as for `calibrate`.
    delay, ttl, max_pending
        Limits, as for `KeyedStreams`. With `time`, a row is written with the file that moves the
        watermark past it.
    last : bool, default False
        With `time`: whether no more files will come, so that no row waits after these.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
    shards : int, default 2
        How many parts the keys are distributed over; fixed for the lifetime of the folder.
    jobs : int or None, default -1
        How many processes work at once; -1 for one per core.
    bad_rows : {"fail", "reject"}, default "fail"
        Whether a bad row raises BadRowError, or is written with the violated rule in `rejected`.
    initial : path-like, optional
        A Parquet file of keyed streams to start from, as for `KeyedStreams`; read until every shard
        has a state of its own.

    Returns
    -------
    int
        How many files have been learned by all shards.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow, pyarrow.parquet
    >>> from localarc import ARC
    >>> with tempfile.TemporaryDirectory() as name:
    ...     events = pathlib.Path(name, "0.parquet")
    ...     pyarrow.parquet.write_table(pyarrow.table({"who": ["ann"], "score": [0.7]}), events)
    ...     run_files([events], pathlib.Path(name, "job"), key="who", score="score",
    ...               calibrator=ARC(alpha=0.1), jobs=1)
    1
    """
    roles = Roles.checked(
        key=key, order=order, features=features, score=score, loss=loss, kind=kind, id=id,
        width=width, time=time,
    )  # fmt: skip
    check_delay(roles, delay)
    limits = Limits.checked(roles, delay=delay, ttl=ttl, max_pending=max_pending)
    rejects, start = rejects_bad_rows(bad_rows), None if initial is None else Path(initial)
    job = Job(Path(folder), calibrator, roles, limits, rejects, shards, start)
    return min(job.run(Files(tuple(Path(each) for each in files)), jobs, last))
