"""Keyed streams on Spark: many keys a row of state, or one, as keys, buckets and batches grow."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import spark_runs
from benchmarks.keyed import Batch, batches, parts

if TYPE_CHECKING:
    from rich.console import Console

EVENTS = 100_000  # a batch
BATCHES = 4  # the first is not measured: it compiles, and meets every key for the first time
LIMIT = 60.0  # seconds after which a run begins no further batch
KEYS_A_BUCKET = 1_000
NAMES = "what", "keys", "events a batch", "CPU us an event", "x the loop", "events a second", "note"


@dataclass(frozen=True)
class Measured:
    """One job: seconds of CPU an event, Java and Python together, and of wall time."""

    way: str
    keys: int
    events: int
    cpu: float
    wall: float
    note: str

    def cells(self, loops: Mapping[int, float]) -> tuple[str, ...]:
        """For the table; `loops` has the microseconds of the plain loop."""
        microseconds = self.cpu * 1e6
        ratio = f"1 / {microseconds / loops[self.keys]:.0f}"
        numbers = f"{self.events:,}", f"{microseconds:.1f}", ratio, f"{1.0 / self.wall:,.0f}"
        return self.way, f"{self.keys:,}", *numbers, self.note


def jobs(sizes: tuple[int, ...]) -> Iterator[tuple[int, int, list[Batch]]]:
    """Keys, keys a bucket, batches."""
    yield from ((keys, KEYS_A_BUCKET, batches(keys, EVENTS, BATCHES)) for keys in sizes)
    most = sizes[-1]
    for a_bucket in (100, 10_000):
        yield most, a_bucket, batches(most, EVENTS, BATCHES)
    yield most, KEYS_A_BUCKET, batches(most, 4 * EVENTS, BATCHES)
    everyone, again = batches(most, EVENTS, 2)
    yield most, KEYS_A_BUCKET, [everyone, *parts(again, 20)[: BATCHES - 1]]  # one key in twenty


def on_spark(sizes: tuple[int, ...]) -> Iterator[Measured]:
    """Every job, one after the other, in one Spark."""
    spark = spark_runs.session()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for number, (keys, a_bucket, many) in enumerate(jobs(sizes)):
                buckets = max(keys // a_bucket, 2 * spark_runs.CORES)
                job, here = spark_runs.bucketed(buckets), Path(folder, str(number))
                spent = spark_runs.run(spark, job, many, here, LIMIT)
                yield measured(f"Spark, {buckets} buckets", keys, spent)
            for keys in (sizes[0], sizes[-1]):
                many = batches(keys, EVENTS, 2)
                if keys > EVENTS // 10:  # a whole batch would take minutes
                    many = parts(many[0], 20)
                job, here = spark_runs.per_key, Path(folder, f"per key {keys}")
                spent = spark_runs.run(spark, job, many, here, LIMIT)
                yield measured("Spark, a row a key", keys, spent)
    finally:
        spark.stop()


def measured(way: str, keys: int, spent: list[spark_runs.Spent]) -> Measured:
    """The best batch after the first."""
    later = spent[1:] or spent
    cpu = min(each.cpu / each.events for each in later)
    wall = min(each.wall / each.events for each in later)
    size = spent[-1].checkpoint / 1e6
    grown = (spent[-1].checkpoint - spent[-2].checkpoint) / 1e6 if len(spent) > 1 else size
    note = f"{len(spent)} batches; checkpoint {size:.1f} MB, {grown:.1f} MB of it by the last"
    return Measured(way, keys, later[0].events, cpu, wall, note)


def show(console: Console, sizes: tuple[int, ...], loops: Mapping[int, float]) -> None:
    """The table, after each row as it is measured: this takes minutes."""
    from rich.table import Table

    title = f"On Spark, {spark_runs.CORES} cores, load {os.getloadavg()[0]:.0f} when it began"
    table = Table(*NAMES, title=title, box=None, header_style="bold", title_justify="left")
    for row in on_spark(sizes):
        cells: Any = row.cells(loops)
        console.print("; ".join(cells))
        table.add_row(*cells)
    console.print(table)
