"""The processor: what Spark calls for each bucket that has rows in a micro-batch."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.spark.bucket import SCHEMA, Bucket
from localarc.spark.events import Events
from localarc.spark.output_rows import learnt_losses, output, played_scores
from localarc.spark.validation import Verdicts, complain, counted, judge

STATE = "bucket"
"""The name of the state variable: one value for each bucket."""


@dataclass(frozen=True)
class Job:
    """What every bucket of a job needs to know; it travels to the workers."""

    calibrator: AdaptiveCalibrator
    buckets: int
    dimension: int
    given_losses: bool
    rejects: bool

    @property
    def loss_bound(self) -> float | None:
        """The largest loss that a row may carry, None if rows carry scores."""
        return self.calibrator.loss_bound if self.given_losses else None


class BucketProcessor:
    """Sorts, checks and learns the rows of a bucket, and stores the bucket once a batch.

    It plays the role of PySpark's StatefulProcessor, whose methods these are.
    """

    def __init__(self, job: Job) -> None:
        self.job = job

    def init(self, handle: Any) -> None:
        """Ask for the state variable."""
        self._state = handle.getValueState(STATE, SCHEMA)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Any]:  # noqa: N802
        """All rows of one bucket in this micro-batch."""
        events = self._events(list(rows))
        bucket = self._bucket()
        due = bucket.due(events.names)
        verdicts = judge(events, due, self.job.loss_bound)
        if not self.job.rejects:
            complain(events, due, verdicts)
        _skip(bucket, events, verdicts)
        columns = learnt_losses if self.job.given_losses else played_scores
        table = output(events, verdicts, columns(bucket, events, verdicts == 0))
        self._state.update(bucket.store(self.job.buckets))
        yield table

    def handleInitialState(self, key: Any, initial: Any, timers: Any) -> None:  # noqa: N802
        """Keys that go on from a saved calibrator; before the first batch."""
        bucket = self._bucket()
        for name, data, skipped in zip(
            initial["key"], initial["state"], initial["skipped"], strict=True
        ):
            bucket.panel.put(str(name), copy.copy(self.job.calibrator).restore(bytes(data)))
            bucket.skip({str(name): int(skipped)})
        self._state.update(bucket.store(self.job.buckets))

    def handleExpiredTimer(self, key: Any, timers: Any, expired: Any) -> Iterator[Any]:  # noqa: N802
        """No timer is ever set."""
        return iter(())

    def close(self) -> None:
        """Nothing is held open."""

    def _bucket(self) -> Bucket:
        if not self._state.exists():
            return Bucket.new(self.job.calibrator)
        return Bucket.restored(self._state.get(), self.job.calibrator, self.job.buckets)

    def _events(self, parts: list[Any]) -> Events:
        import pandas

        rows = pandas.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
        names = [f"x{i}" for i in range(self.job.dimension)]
        X = rows[names].to_numpy(np.float64) if names else np.empty((len(rows), 0))
        orders = rows["order"].to_numpy(np.int64)
        return Events.sorted(rows["key"], orders, rows["value"].to_numpy(np.float64), X)


def _skip(bucket: Bucket, events: Events, verdicts: Verdicts) -> None:
    used = events.codes[counted(verdicts)]
    numbers = np.bincount(used, minlength=len(events.names)).tolist()
    bucket.skip(dict(zip(events.names, numbers, strict=True)))
