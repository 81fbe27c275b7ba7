"""Keyed streams on Spark: many keys per row of state, or one, as keys, buckets and batches grow."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.keyed import spark_runner
from benchmarks.keyed.batches import Batch, batches, parts

if TYPE_CHECKING:
    from rich.console import Console

EVENTS = 100_000  # per batch
BATCHES = 4  # the first is not measured: it compiles, and creates every key
LIMIT = 60.0  # seconds after which a run starts no further batch
KEYS_PER_BUCKET = 1_000
NAMES = (
    "what",
    "keys",
    "events per batch",
    "CPU us per event",
    "x the loop",
    "events per second",
    "note",
)


@dataclass(frozen=True)
class Measured:
    """One job: CPU seconds per event, Java and Python together, and wall seconds per event."""

    way: str
    keys: int
    events: int
    cpu: float
    wall: float
    note: str

    def cells(self, loops: Mapping[int, float]) -> tuple[str, ...]:
        """The cells of the table; `loops` has the microseconds of the loop over calibrators."""
        microseconds = self.cpu * 1e6
        ratio = f"1 / {microseconds / loops[self.keys]:.0f}"
        numbers = f"{self.events:,}", f"{microseconds:.1f}", ratio, f"{1.0 / self.wall:,.0f}"
        return self.way, f"{self.keys:,}", *numbers, self.note


def jobs(sizes: tuple[int, ...]) -> Iterator[tuple[int, int, list[Batch]]]:
    """Keys, keys per bucket, batches."""
    yield from ((keys, KEYS_PER_BUCKET, batches(keys, EVENTS, BATCHES)) for keys in sizes)
    most = sizes[-1]
    for per_bucket in (100, 10_000):
        yield most, per_bucket, batches(most, EVENTS, BATCHES)
    yield most, KEYS_PER_BUCKET, batches(most, 4 * EVENTS, BATCHES)
    everyone, again = batches(most, EVENTS, 2)
    yield most, KEYS_PER_BUCKET, [everyone, *parts(again, 20)[: BATCHES - 1]]  # one key in twenty


def on_spark(sizes: tuple[int, ...]) -> Iterator[Measured]:
    """Every job, one after the other, in one Spark."""
    spark = spark_runner.session()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number, (keys, per_bucket, many) in enumerate(jobs(sizes)):
                buckets = max(keys // per_bucket, 2 * spark_runner.CORES)
                job, here = spark_runner.bucketed(buckets), Path(folder, str(number))
                spent = spark_runner.run(spark, job, many, here, LIMIT)
                yield measured(f"Spark, {buckets} buckets", keys, spent)
            for keys in (sizes[0], sizes[-1]):
                many = batches(keys, EVENTS, 2)
                if keys > EVENTS // 10:  # a whole batch would take minutes
                    many = parts(many[0], 20)
                job, here = spark_runner.per_key, Path(folder, f"per key {keys}")
                spent = spark_runner.run(spark, job, many, here, LIMIT)
                yield measured("Spark, one row per key", keys, spent)
    finally:
        spark.stop()


def measured(way: str, keys: int, spent: list[spark_runner.Spent]) -> Measured:
    """The best batch after the first."""
    later = spent[1:] or spent
    cpu = min(batch.cpu / batch.events for batch in later)
    wall = min(batch.wall / batch.events for batch in later)
    size = spent[-1].checkpoint / 1e6
    grown = (spent[-1].checkpoint - spent[-2].checkpoint) / 1e6 if len(spent) > 1 else size
    note = f"{len(spent)} batches; checkpoint {size:.1f} MB, {grown:.1f} MB of it by the last"
    return Measured(way, keys, later[0].events, cpu, wall, note)


def show(console: Console, sizes: tuple[int, ...], loops: Mapping[int, float]) -> list[Measured]:
    """Print each row as it is measured, which takes minutes, and then the table."""
    from rich.table import Table

    title = f"On Spark, {spark_runner.CORES} cores, load {os.getloadavg()[0]:.0f} when it began"
    table = Table(*NAMES, title=title, box=None, header_style="bold", title_justify="left")
    rows = []
    for row in on_spark(sizes):
        rows.append(row)
        cells: Any = row.cells(loops)
        console.print("; ".join(cells))
        table.add_row(*cells)
    console.print(table)
    return rows
