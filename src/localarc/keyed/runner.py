"""A keyed job on one machine: files of events in, files of rows out, and a state that survives.

Keys are distributed over shards, each a process. After each file a shard writes its rows, and then
its state together with the number of files it has learned, in one atomic write. After a crash it
learns the file again from the state before it, and writes the same rows to the same place.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from localarc import validation
from localarc.keyed import table
from localarc.keyed.arrivals import arrive, newest
from localarc.keyed.arrow_columns import key_codes
from localarc.keyed.bucket import Bucket
from localarc.keyed.check import check_calibrator, rejects_bad_rows
from localarc.keyed.files import read_events
from localarc.keyed.frames import with_columns
from localarc.keyed.limits import Limits, check_delay
from localarc.keyed.roles import Roles
from localarc.panel.streams import Prototype
from localarc.panel.table import read_metadata
from localarc.serialization import StateError


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
    import joblib

    roles = Roles.checked(
        key=key, order=order, features=features, score=score, loss=loss, kind=kind, id=id,
        width=width, time=time,
    )  # fmt: skip
    check_calibrator(calibrator, roles)
    check_delay(roles, delay)
    limits = Limits.checked(roles, delay=delay, ttl=ttl, max_pending=max_pending)
    validation.integer("shards", shards, 1, "Each is a part of the keys.")
    rejects, paths, home = rejects_bad_rows(bad_rows), [Path(each) for each in files], Path(folder)
    for part in ("rows", "state"):
        (home / part).mkdir(parents=True, exist_ok=True)
    made = [Shard(i, shards, home, calibrator, roles, limits, rejects) for i in range(shards)]
    calls = (joblib.delayed(shard.run)(paths, last) for shard in made)
    done: list[int] = joblib.Parallel(n_jobs=jobs)(calls)
    return min(done)


@dataclass(frozen=True)
class Shard:
    """One part of the keys of a job."""

    number: int
    shards: int
    folder: Path
    calibrator: Prototype
    roles: Roles
    limits: Limits
    rejects: bool

    @property
    def state(self) -> Path:
        """The file of its state."""
        return self.folder / "state" / f"{self.number}.parquet"

    def run(self, files: list[Path], last: bool = False) -> int:
        """Learn the files that were not learned yet; returns how many were in all."""
        bucket, names = self._resumed(files)
        for i in range(len(names), len(files)):
            events = self._read(files[i])
            rows = self._learn(bucket, events, last and i == len(files) - 1)
            table.write_table(rows, self._rows(f"{i:08d}"))
            names.append(files[i].name)
            table.write(bucket, self.state, files=names, shards=self.shards)
        if last and len(bucket.waiting):  # of files that were learned before
            none = bucket.waiting.rows.slice(0, 0)
            table.write_table(self._learn(bucket, none, last), self._rows(f"{len(names):08d}-last"))
            table.write(bucket, self.state, files=names, shards=self.shards)
        return len(names)

    def _rows(self, name: str) -> Path:
        return self.folder / "rows" / f"{name}-{self.number}.parquet"

    def _learn(self, bucket: Bucket, events: Any, last: bool) -> Any:
        """The rows that go out, with the added columns."""
        rows = self._mine(events)
        if self.roles.time is not None:
            latest = newest(events, self.roles)
            return arrive(bucket, rows, self.rejects, latest=latest, last=last)
        return with_columns(rows, bucket.calibrate(rows, self.rejects).table(self.rejects))

    def _resumed(self, files: list[Path]) -> tuple[Bucket, list[str]]:
        """The bucket, and the names of the files that it has learned."""
        if not self.state.exists():
            return Bucket.new(self.calibrator, self.roles, self.limits), []
        stored = table.read_table(self.state)
        about = read_metadata(stored)
        if about["shards"] != self.shards:
            raise StateError(
                f"{self.folder} was started with shards={about['shards']}, now it is "
                f"{self.shards}: keys would move. Keep the number."
            )
        names: list[str] = about["files"]
        if names != [path.name for path in files[: len(names)]]:
            raise StateError(
                f"{self.folder} has learned {len(names)} files, the last of which is {names[-1]}. "
                "Name these first, in the same order, and then the new ones."
            )
        return table.from_table(stored, self.calibrator, self.roles, self.limits), names

    def _read(self, path: Path) -> Any:
        rows = read_events(path)
        try:
            self.roles.check_columns(rows.column_names)
            self.roles.check_added(rows.column_names, self.rejects)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        return rows

    def _mine(self, rows: Any) -> Any:
        """The rows of this shard's keys; rows without a key are the first shard's."""
        names, codes = key_codes(rows, self.roles.key)
        hashes = [zlib.crc32(name.encode()) % self.shards for name in names]
        shards = np.array([*hashes, 0])[codes]  # -1, a missing key, is the last
        return rows.take(np.flatnonzero(shards == self.number))
