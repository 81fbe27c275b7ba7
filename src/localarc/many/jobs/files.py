"""Jobs over files of events on one machine: Parquet, CSV and newline-delimited JSON."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localarc.many.columns import Columns
from localarc.many.jobs.job import Batch, Job
from localarc.many.limits import Limits
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import arrow
from localarc.serialization import StateError


def run_files(
    files: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    columns: Columns,
    calibrator: Prototype,
    *,
    limits: Limits = Limits(),  # noqa: B008
    last: bool = False,
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
    columns : Columns
        What the columns mean. With `time`, a row is written with the file that moves the
        watermark past it.
    calibrator : ARC, LARC or AutoLARC
        A new calibrator, whose settings every key uses.
    limits : Limits, default Limits()
        How late rows may come, how long keys are kept, and how many asks are pending.
    last : bool, default False
        With `time`: whether no more files will come, so that no row waits after these.
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
    >>> columns = Columns(key="who", score="score")
    >>> with tempfile.TemporaryDirectory() as name:
    ...     events = pathlib.Path(name, "0.parquet")
    ...     pyarrow.parquet.write_table(pyarrow.table({"who": ["ann"], "score": [0.7]}), events)
    ...     run_files([events], pathlib.Path(name, "job"), columns, ARC(alpha=0.1), jobs=1)
    1
    """
    job = Job.checked(folder, columns, calibrator, limits, bad_rows, shards, initial)
    return min(job.run(Files(tuple(map(Path, files))), jobs, last))


@dataclass(frozen=True)
class Files:
    """Files one after another; the place is the list of the names that were learned."""

    paths: tuple[Path, ...]

    def start(self) -> dict[str, Any]:
        """No file."""
        return {"files": []}

    def check(self, place: dict[str, Any], folder: Path) -> None:
        """Raise StateError unless the files begin with those that were learned."""
        if "files" not in place:
            raise StateError(
                f"{folder} is a job over a topic, not over files. Name another folder."
            )
        names = place["files"]
        if names != [path.name for path in self.paths[: len(names)]]:
            raise StateError(
                f"{folder} has learned {len(names)} files, the last of which is {names[-1]}. "
                "Name these first, in the same order, and then the new ones."
            )

    def done(self, place: dict[str, Any]) -> int:
        """How many files were learned."""
        return len(place["files"])

    def batches(self, place: dict[str, Any]) -> Iterator[Batch]:
        """Each of the other files."""
        names = place["files"]
        for path in self.paths[len(names) :]:
            names = [*names, path.name]
            yield Batch(read_events(path), {"files": names})


def read_events(path: Path) -> Any:
    """The rows of a file, by the end of its name; raises ValueError for other files."""
    pa = arrow()
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            return parquet.read_table(path)
        if path.suffix == ".csv":
            from pyarrow import csv

            return csv.read_csv(path)
        if path.suffix in (".ndjson", ".jsonl"):
            from pyarrow import json

            return json.read_json(path)
    except pa.ArrowException as error:
        raise ValueError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    raise ValueError(
        f"{path} is of no known kind. Files of events end in .parquet, .csv, .ndjson or .jsonl."
    )
