"""Spark on this machine, fed one micro-batch at a time: wall and CPU seconds of each."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.keyed.batches import Batch
from localarc import ARC
from localarc.many import Columns
from localarc.many.spark import calibrate, prepare

ROOT = Path(__file__).parents[2]
ALPHA = 0.1
CORES = 2
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "3g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": str(CORES),
}
COLUMNS = "key string, order bigint, score double"


@dataclass(frozen=True)
class Spent:
    """The cost of one micro-batch."""

    events: int
    wall: float
    cpu: float
    checkpoint: int  # bytes, after it


def session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)  # the workers import this module too
    builder = SparkSession.builder.master(f"local[{CORES}]").appName("localarc benchmark")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    started = prepare(builder.getOrCreate())
    started.sparkContext.setLogLevel("OFF")
    return started


def bucketed(buckets: int) -> Callable[[Any], Any]:
    """The job that localarc offers."""
    columns = Columns(key="key", order="order", score="score")
    return lambda frame: calibrate(frame, columns, ARC(ALPHA), buckets=buckets)


def per_key(frame: Any) -> Any:
    """The naive job: one row of state per key."""
    return frame.groupBy("key").transformWithStateInPandas(
        OneKey(),
        outputStructType="key string, order bigint, threshold double, loss double",
        outputMode="append",
        timeMode="none",
    )


class OneKey:
    """A calibrator in each row of state, restored and stored whenever its key has events."""

    def init(self, handle: Any) -> None:
        self._state = handle.getValueState("calibrator", "state binary")

    def handleInputRows(self, key: Any, parts: Any, timers: Any) -> Iterator[Any]:  # noqa: N802
        import pandas

        known = self._state.exists()
        one = ARC.from_state(bytes(self._state.get()[0])) if known else ARC(ALPHA)
        rows = pandas.concat(list(parts)).sort_values("order")
        thresholds, losses = [], []
        for score in rows["score"].tolist():
            thresholds.append(one.threshold(None))
            losses.append(float(score > thresholds[-1]))
            one.update(None, losses[-1])
        self._state.update((one.state(),))
        yield pandas.DataFrame(
            {"key": key[0], "order": rows["order"], "threshold": thresholds, "loss": losses}
        )

    def handleExpiredTimer(self, key: Any, timers: Any, expired: Any) -> Iterator[Any]:  # noqa: N802
        return iter(())

    def close(self) -> None:
        """Nothing to close."""


def run(
    spark: Any, job: Callable[[Any], Any], batches: list[Batch], folder: Path, limit: float
) -> list[Spent]:
    """Feed the batches one by one: each is a file, processed and stored before the next.

    No batch starts after `limit` seconds.
    """
    end = time.monotonic() + limit
    source = folder / "in"
    source.mkdir(parents=True)
    frame = spark.readStream.schema(COLUMNS).parquet(str(source))
    writer = job(frame).writeStream.format("parquet").option("path", str(folder / "out"))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    spent = []
    try:
        for i, batch in enumerate(batches):
            if time.monotonic() > end:
                break
            batch.frame().to_parquet(folder / "next.parquet")
            wall, cpu = time.perf_counter(), tree_cpu()
            (folder / "next.parquet").rename(source / f"{i}.parquet")
            query.processAllAvailable()
            took = time.perf_counter() - wall, tree_cpu() - cpu
            spent.append(Spent(len(batch), *took, size(folder / "checkpoint")))
    finally:
        query.stop()
    return spent


def tree_cpu() -> float:
    """CPU seconds of the processes below this one: Java and the Python workers."""
    parents, ticks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    mine = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(ticks[process] for process in mine - {os.getpid()}) / os.sysconf("SC_CLK_TCK")


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
