"""The formula of docs/scale/planning.md: what a micro-batch on Spark costs, measured and fitted.

    python -m benchmarks.keyed.planning [--json FILE]

takes minutes: on a busy machine, the five smaller jobs took ten. CPU seconds are those of all Java
and Python processes, the median of a few micro-batches; the formula is the one with the least
squares of relative errors. A job that reaches no measured batch in its time is left out.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.keyed.batches import Batch, batches, parts
from localarc.validation import FloatArray

WARM, COUNT = 2, 5  # batches before those that are measured, which create keys, and measured ones
LIMIT = 300.0  # seconds after which a job starts no further batch
JOBS = (
    *((1_000, 4, events) for events in (5_000, 100_000)),
    *((10_000, 10, events) for events in (5_000, 100_000)),
    *((100_000, 100, events) for events in (5_000, 100_000, 400_000)),
    *((100_000, buckets, 100_000) for buckets in (10, 1_000)),
)
"""Keys, buckets and events per batch. Every bucket has events in every batch."""


@dataclass(frozen=True)
class Job:
    """CPU seconds of each micro-batch of a job."""

    keys: int
    buckets: int
    events: int
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def terms(self) -> tuple[float, float, float]:
        """What the formula multiplies."""
        return 1.0, self.buckets, self.events


def measure() -> Iterator[Job]:
    """Every job, one after the other, in one Spark, whose first batches are not measured."""
    from benchmarks.keyed import spark_runner

    spark = spark_runner.session()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number, (keys, buckets, events) in enumerate((JOBS[1], *JOBS)):
                job, here = spark_runner.bucketed(buckets), Path(folder, str(number))
                spent = spark_runner.run(spark, job, some_batches(keys, events), here, LIMIT)
                if number and len(spent) > WARM:  # the first job is for Java to compile
                    seconds = tuple(batch.cpu for batch in spent[WARM:])
                    yield Job(keys, buckets, events, seconds)
    finally:
        spark.stop()


def some_batches(keys: int, events: int) -> list[Batch]:
    """Batches in which every key occurs equally often or, of fewer events than keys, at most once.

    The first one has every key.
    """
    split = max(keys // events, 1)
    whole = batches(keys, events, 1 + -(-(WARM + COUNT - 1) // split))
    later = (part for batch in whole[1:] for part in parts(batch, split))
    return [whole[0], *later][: WARM + COUNT]


def fitted(jobs: list[Job]) -> FloatArray:
    """The seconds per batch, per bucket and per event, with least relative errors."""
    terms = np.array([job.terms for job in jobs]) / np.array([[job.median] for job in jobs])
    found: FloatArray = np.linalg.lstsq(terms, np.ones(len(jobs)))[0]
    return found


def main() -> None:
    options = machine.argument_parser("Fit the formula of docs/scale/planning.md.").parse_args()
    print(machine.describe())
    jobs = []
    for job in measure():
        jobs.append(job)
        span = f"{min(job.seconds):.2f} to {max(job.seconds):.2f} s, median {job.median:.2f}"
        print(
            f"{job.keys:,} keys, {job.buckets:,} buckets, {job.events:,} events: {span}", flush=True
        )
    formula = fitted(jobs)
    batch, bucket, event = formula
    print(f"{batch:.2f} + {bucket:.5f} x buckets with events + {event:.8f} x events")
    for job in jobs:
        expected = float(formula @ job.terms)
        shares = [
            seconds / expected for seconds in (min(job.seconds), job.median, max(job.seconds))
        ]
        text = "least {:.2f}, median {:.2f}, most {:.2f} times the formula".format(*shares)
        print(f"{job.keys:,} keys, {job.buckets:,} buckets, {job.events:,} events: {text}")
    machine.write_json(
        options.json, jobs=jobs, formula=[{"batch": batch, "bucket": bucket, "event": event}]
    )


if __name__ == "__main__":
    main()
