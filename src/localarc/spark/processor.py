"""The stateful processor that Spark calls for each bucket with rows in a micro-batch."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc.panel.streams import Prototype
from localarc.spark.bucket import SCHEMA, Bucket
from localarc.spark.events import Events
from localarc.spark.output_rows import learn_losses, output_rows, replay_scores
from localarc.spark.validation import Verdicts, consumes_order, raise_first, validate_rows

STATE = "bucket"
"""The name of the state variable: one value for each bucket."""


@dataclass(frozen=True)
class Job:
    """The settings of a job, which are sent to the workers."""

    calibrator: Prototype
    buckets: int
    dimension: int
    given_losses: bool
    rejects: bool

    @property
    def loss_bound(self) -> float | None:
        """The largest valid loss, None if rows have scores."""
        return self.calibrator.loss_bound if self.given_losses else None


class BucketProcessor:
    """Sort, validate and learn the rows of a bucket, and store the bucket once per batch.

    It implements PySpark's StatefulProcessor.
    """

    def __init__(self, job: Job) -> None:
        self.job = job

    def init(self, handle: Any) -> None:
        """Open the state variable."""
        self._state = handle.getValueState(STATE, SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Any]:  # noqa: N802
        """All rows of one bucket in this micro-batch."""
        events = self._events(list(rows))
        bucket = self._bucket()
        due = bucket.due(events.names)
        verdicts = validate_rows(events, due, self.job.loss_bound)
        if not self.job.rejects:
            raise_first(events, due, verdicts)
        _skip(bucket, events, verdicts)
        columns = learn_losses if self.job.given_losses else replay_scores
        table = output_rows(events, verdicts, columns(bucket, events, verdicts == 0))
        self._state.update(bucket.store(self.job.buckets))
        yield table

    def handleInitialState(self, key: Any, initial: Any, timers: Any) -> None:  # noqa: N802
        """Load saved calibrators, before the first batch."""
        bucket = self._bucket()
        for name, data, skipped in zip(
            initial["key"], initial["state"], initial["skipped"], strict=True
        ):
            bucket.panel.put(str(name), copy.copy(bucket.panel.prototype).restore(bytes(data)))
            bucket.skip({str(name): int(skipped)})
        self._state.update(bucket.store(self.job.buckets))

    def handleExpiredTimer(self, key: Any, timers: Any, expired: Any) -> Iterator[Any]:  # noqa: N802
        """Timers are not used."""
        return iter(())

    def close(self) -> None:
        """Nothing to close."""

    def _bucket(self) -> Bucket:
        if not self._state.exists():
            return Bucket.new(self.job.calibrator)
        return Bucket.from_stored(self._state.get(), self.job.calibrator, self.job.buckets)

    def _events(self, parts: list[Any]) -> Events:
        import pandas

        rows = pandas.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        names = [f"x{i}" for i in range(self.job.dimension)]
        X = rows[names].to_numpy(np.float64) if names else np.empty((len(rows), 0))
        orders = rows["order"].to_numpy(np.int64)
        return Events.from_columns(rows["key"], orders, rows["value"].to_numpy(np.float64), X)


def _skip(bucket: Bucket, events: Events, verdicts: Verdicts) -> None:
    used = events.codes[consumes_order(verdicts)]
    numbers = np.bincount(used, minlength=len(events.names)).tolist()
    bucket.skip(dict(zip(events.names, numbers, strict=True)))
