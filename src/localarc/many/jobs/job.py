"""A keyed job on one machine: batches of events in, files of rows out, and a state that survives.

Keys are distributed over shards, each a process. After each batch a shard writes its rows, and then
its state together with its place in the source, in one atomic write. After a crash it learns the
batch again from the state before it, and writes the rows to the same place.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from localarc import validation
from localarc.many.checks import check_settings, rejects_bad_rows
from localarc.many.columns import Columns
from localarc.many.frames import with_columns
from localarc.many.limits import Limits
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import arrow, read_metadata
from localarc.many.rows import bucket_table as table
from localarc.many.rows.arrow_columns import key_codes
from localarc.many.rows.bucket import Bucket
from localarc.many.rows.watermark import arrive, newest
from localarc.serialization import StateError


@dataclass(frozen=True)
class Batch:
    """Events as an Arrow table, the place after them, and what was rejected before it had a key."""

    events: Any
    place: dict[str, Any]
    rejected: Any = None


class Source(Protocol):
    """Where events come from; a place in it is a dict for JSON."""

    def start(self) -> dict[str, Any]:
        """The place before the first batch."""

    def check(self, place: dict[str, Any], folder: Path) -> None:
        """Raise StateError if a stored place is not one of this source."""

    def done(self, place: dict[str, Any]) -> int:
        """How many files or messages were learned."""

    def batches(self, place: dict[str, Any]) -> Iterator[Batch]:
        """The batches after a place."""


@dataclass(frozen=True)
class Job:
    """The settings of a job, and its folder."""

    folder: Path
    columns: Columns
    calibrator: Prototype
    limits: Limits
    rejects: bool
    shards: int
    initial: Path | None = None

    @classmethod
    def checked(
        cls,
        folder: str | os.PathLike[str],
        columns: Columns,
        calibrator: Prototype,
        limits: Limits,
        bad_rows: str,
        shards: int,
        initial: str | os.PathLike[str] | None,
    ) -> Self:
        """A job whose settings go together; raises if they do not."""
        check_settings(columns, calibrator, limits, delays=True)
        rejects = rejects_bad_rows(bad_rows)
        validation.integer("shards", shards, 1, "Each is a part of the keys.")
        start = None if initial is None else Path(initial)
        return cls(Path(folder), columns, calibrator, limits, rejects, shards, start)

    def run(self, source: Source, jobs: int | None, last: bool) -> list[int]:
        """Learn what is new; returns how many files or messages each shard has learned in all."""
        import joblib

        for part in ("rows", "state"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        calls = (joblib.delayed(Shard(self, i).run)(source, last) for i in range(self.shards))
        done: list[int] = joblib.Parallel(n_jobs=jobs)(calls)
        return done


@dataclass(frozen=True)
class Shard:
    """One part of the keys of a job."""

    job: Job
    number: int

    @property
    def state(self) -> Path:
        """The file of its state."""
        return self.job.folder / "state" / f"{self.number}.parquet"

    def run(self, source: Source, last: bool) -> int:
        """Learn the batches that were not learned yet."""
        bucket, place, number = self._resumed(source)
        self._remove_partial_files()
        for batch in source.batches(place):
            place = batch.place
            self._check(batch.events, place)
            rows = self._learn(bucket, batch.events, False)
            if batch.rejected is not None and self.number == 0:
                rows = arrow().concat_tables([rows, batch.rejected], promote_options="default")
            self._write(bucket, rows, f"{number:08d}", place, number + 1)
            number += 1
        if last and len(bucket.waiting):
            none = bucket.waiting.rows.slice(0, 0)
            rows = self._learn(bucket, none, last)
            self._write(bucket, rows, f"{number:08d}-last", place, number)
        return source.done(place)

    def _write(
        self, bucket: Bucket, rows: Any, name: str, place: dict[str, Any], number: int
    ) -> None:
        """The rows first, and then the state with the place in the source."""
        table.write_table(rows, self.job.folder / "rows" / f"{name}-{self.number}.parquet")
        table.write(bucket, self.state, shards=self.job.shards, batches=number, **place)

    def _resumed(self, source: Source) -> tuple[Bucket, dict[str, Any], int]:
        """The bucket, its place in the source, and how many batches it has learned."""
        job = self.job
        if not self.state.exists():
            return self._new(), source.start(), 0
        stored = table.read_table(self.state)
        about = read_metadata(stored)
        if about["shards"] != job.shards:
            raise StateError(
                f"{job.folder} was started with shards={about['shards']}, now it is "
                f"{job.shards}: keys would move. Keep the number."
            )
        source.check(about, job.folder)
        place = {name: about[name] for name in source.start()}
        number = about.get("batches", len(about.get("files", ())))
        return table.from_table(stored, job.calibrator, job.columns, job.limits), place, number

    def _new(self) -> Bucket:
        """A bucket that has learned nothing here: empty, or with its keys of the initial table."""
        job = self.job
        bucket = Bucket.new(job.calibrator, job.columns, job.limits)
        if job.initial is not None:
            found = table.read_table(job.initial)
            mine = [shard_of(key, job.shards) == self.number for key in found["key"].to_pylist()]
            table.seed(bucket, found.take(np.flatnonzero(mine)))
        return bucket

    def _remove_partial_files(self) -> None:
        """What this shard was writing when it was killed."""
        name = f"{self.number}.parquet.*.partial"
        for pattern in (f"rows/.*-{name}", f"state/.{name}"):
            for path in self.job.folder.glob(pattern):
                path.unlink()

    def _learn(self, bucket: Bucket, events: Any, last: bool) -> Any:
        """The rows that go out, with the added columns."""
        rows, rejects = self._mine(events), self.job.rejects
        if self.job.columns.time is not None:
            latest = newest(events, self.job.columns)
            return arrive(bucket, rows, rejects, latest=latest, last=last)
        return with_columns(rows, bucket.calibrate(rows, rejects).table(rejects))

    def _check(self, rows: Any, place: dict[str, Any]) -> None:
        try:
            self.job.columns.check(rows.column_names, self.job.rejects)
        except ValueError as error:
            raise ValueError(f"{_shown(place)}: {error}") from error

    def _mine(self, rows: Any) -> Any:
        """The rows of this shard's keys; rows without a key are the first shard's."""
        names, codes = key_codes(rows, self.job.columns.keys)
        hashes = [shard_of(name, self.job.shards) for name in names]
        shards = np.array([*hashes, 0])[codes]  # -1, a missing key, is the last
        return rows.take(np.flatnonzero(shards == self.number))


def shard_of(key: str, shards: int) -> int:
    """The shard of a key; fixed for the lifetime of a folder."""
    return zlib.crc32(key.encode()) % shards


def _shown(place: dict[str, Any]) -> str:
    """The batch that ends at a place, for error messages."""
    return str(place["files"][-1]) if "files" in place else f"topic {place['topic']}"
