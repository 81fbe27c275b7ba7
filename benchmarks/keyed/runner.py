"""`run_files` beside a Spark stream on the same Parquet files: CPU of all processes."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.keyed import spark_runner
from benchmarks.keyed.batches import batches
from benchmarks.keyed.sections import Cost
from localarc import ARC
from localarc.many import Columns, run_files

KEYS, EVENTS, FILES, SHARDS = 10_000, 100_000, 4, 2
COLUMNS = Columns(key="key", order="order", score="score")


def measure() -> Iterator[Cost]:
    """Both write state and rows after every file; starting processes is not counted."""
    if importlib.util.find_spec("pyspark") is None:
        raise SystemExit("This section requires pip install 'localarc[spark]' and Java 17.")
    total = EVENTS * FILES
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in")
        source.mkdir()
        for i, batch in enumerate(batches(KEYS, EVENTS, FILES)):
            batch.frame().to_parquet(source / f"{i}.parquet")
            os.utime(source / f"{i}.parquet", (1e9 + i, 1e9 + i))  # Spark reads them in this order
        files = sorted(source.iterdir())
        run_files(files[:1], Path(folder, "warm"), COLUMNS, ARC(0.1), jobs=1)
        own = _least(lambda i: _run(files, Path(folder, f"job {i}")))
        spark = spark_runner.session()
        there = _least(lambda i: _stream(spark, source, Path(folder, f"spark {i}")))
        spark.stop()
    yield Cost("run_files", total, own / total * 1e6, 1.0, "run_files")
    yield Cost("Spark stream", total, there / total * 1e6, there / own, "run_files")


def _least(way: Callable[[int], float]) -> float:
    return min(way(i) for i in range(2))


def _run(files: list[Path], folder: Path) -> float:
    """In this process, shard by shard: CPU time of processes that end is hard to collect."""
    start = time.process_time()
    run_files(files, folder, COLUMNS, ARC(0.1), shards=SHARDS, jobs=1)
    return time.process_time() - start


def _stream(spark: Any, source: Path, folder: Path) -> float:
    from localarc.many.spark import calibrate

    reader = spark.readStream.schema(spark_runner.COLUMNS).option("maxFilesPerTrigger", 1)
    made = calibrate(reader.parquet(str(source)), COLUMNS, ARC(0.1), buckets=10)
    writer = made.writeStream.format("parquet").option("path", str(folder / "out"))
    before = spark_runner.tree_cpu()
    query = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()
    return spark_runner.tree_cpu() - before
