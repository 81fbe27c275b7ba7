"""A batch frame through `localarc.many.spark.calibrate`, beside an `applyInPandas` with a panel."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.keyed import spark_runner
from benchmarks.keyed.batches import batches
from benchmarks.keyed.sections import Cost
from localarc import ARC, Panel
from localarc.curves import miscoverage
from localarc.many import Columns

KEYS, EVENTS, BUCKETS = 10_000, 400_000, 8
ALPHA = 0.1
OUTPUT = "key string, order bigint, score double, threshold double, loss double, covered boolean"


def measure() -> Iterator[Cost]:
    """CPU of Java and Python together, Parquet in, nothing written; the least of three runs."""
    if importlib.util.find_spec("pyspark") is None:
        raise SystemExit("This section requires pip install 'localarc[spark]' and Java 17.")
    from localarc.many.spark import calibrate

    spark = spark_runner.session()
    ways: dict[str, Callable[[Any], Any]] = {
        "applyInPandas(Panel), no rules": bare,
        "localarc.many.spark.calibrate": lambda frame: calibrate(
            frame, Columns(key="key", order="order", score="score"), ARC(ALPHA), buckets=BUCKETS
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        source = str(Path(folder, "in.parquet"))
        batches(KEYS, EVENTS, 1)[0].frame().to_parquet(source)
        spent: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(4):  # the first compiles
            for name, way in ways.items():
                spent[name].append(_cpu(lambda way=way: way(spark.read.parquet(source))))  # type: ignore[misc]
    spark.stop()
    least = {name: min(times[1:]) for name, times in spent.items()}
    first = next(iter(least))
    for name, seconds in least.items():
        yield Cost(name, EVENTS, seconds / EVENTS * 1e6, seconds / least[first], first)


def bare(frame: Any) -> Any:
    """What one would write by hand: no check of order or values."""
    from pyspark.sql import functions

    bucket = functions.pmod(functions.xxhash64("key"), functions.lit(BUCKETS))
    return frame.groupBy(bucket).applyInPandas(_replay, OUTPUT)


def _replay(rows: Any) -> Any:
    rows = rows.sort_values("order", kind="stable")
    scores = rows["score"].to_numpy(np.float64)
    record = Panel(ARC(ALPHA)).replay(rows["key"], None, miscoverage(scores))
    covered = scores <= record.thresholds
    return rows.assign(threshold=record.thresholds, loss=record.losses, covered=covered)


def _cpu(made: Callable[[], Any]) -> float:
    before = spark_runner.tree_cpu()
    made().write.format("noop").mode("overwrite").save()
    return spark_runner.tree_cpu() - before
