"""A bucket in a micro-batch of few events: the CPU time of what Python does, without Spark.

    python -m benchmarks.keyed.bucket_steps --before REVISION

compares the working tree with an earlier revision, in processes that take turns (two minutes). The
worker has kept the bucket from the batch before; or it has an outdated one, because another worker
got the bucket in between; or it has none.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.keyed.sections import Cost

EVENTS, TURNS, REPEATS = 50, 5, 200
CASES = ("kept", "outdated", "none")


def measure() -> Iterator[Cost]:
    """A bucket that the worker kept, and one that it has to decode."""
    for name, keys in (("ARC", 1000), ("AutoLARC", 100)):
        spent = {case: milliseconds(name, keys, case) for case in reversed(CASES)}
        for case, cost in spent.items():
            rows = f"{name}, {keys} keys, {EVENTS} events: {case}"
            yield Cost(rows, EVENTS, cost * 1000 / EVENTS, cost / spent["none"], "none")


def milliseconds(name: str, keys: int, case: str) -> float:
    """CPU milliseconds of `handleInputRows`, the least of many."""
    learn = _processor(name)
    names = np.array([f"customer-{i:07d}" for i in range(keys)])
    learn(names, 1)
    repeats = REPEATS if name == "ARC" else 20
    return min(learn(names[:EVENTS], order, case) for order in range(2, repeats + 2)) * 1e3


def _processor(name: str) -> Callable[..., float]:
    """A function that learns an event of each name, and returns the CPU seconds of it."""
    import pandas

    import localarc
    from localarc.many import Columns
    from localarc.many.spark.packed_columns import NULLS, PackedColumns, alias
    from localarc.many.spark.processor import BucketProcessor, Job

    columns = Columns(key="key", order="order", score="score")
    packed = PackedColumns(columns.names, ("string", "bigint", "double"))
    processor = BucketProcessor(Job(columns, getattr(localarc, name)(0.1), 4, packed, False))
    held: dict[str, Any] = {}
    processor.init(SimpleNamespace(getValueState=lambda *given: _state(held)))
    random = np.random.default_rng(0)

    def learn(names: Any, order: int, case: str = "kept") -> float:
        scores = np.abs(random.normal(size=len(names)))
        rows: dict[str, Any] = {alias(0): names, alias(1): order, alias(2): scores, NULLS: 0}
        frame = pandas.DataFrame(rows)
        _forget(case)
        start = time.process_time()
        list(processor.handleInputRows((0,), iter([frame]), None))
        return time.process_time() - start

    return learn


def _state(held: dict[str, Any]) -> Any:
    return SimpleNamespace(
        exists=lambda: "row" in held,
        get=lambda: held.get("row"),
        update=lambda row: held.update(row=row),
    )


def _forget(case: str) -> None:
    """Leave in memory what the case has there; before there were cases, nothing was kept."""
    if case == "kept":
        return
    from localarc.many.spark.bucket_cache import CACHE

    found = dict(CACHE._found)
    CACHE._found.clear()
    CACHE._bytes = 0
    if case == "outdated":
        for (job, key), recent in found.items():
            CACHE.put(job, key, b"another checksum", recent.bucket)


def _turn(source: Path, case: str) -> float:
    """The milliseconds that the code in a folder takes, in a process of its own."""
    path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "benchmarks.keyed.bucket_steps", "--case", case]
    environment = os.environ | {"PYTHONPATH": path}
    found = subprocess.run(command, env=environment, check=True, capture_output=True)
    return float(json.loads(found.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="a revision to compare with, from before any was kept")
    parser.add_argument("--case", default="kept", choices=CASES, help="what the worker has")
    options = parser.parse_args()
    if options.before is None:
        print(json.dumps(milliseconds("ARC", 1000, options.case)))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", options.before, "src"], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        here = Path("src").absolute()
        sides = [(Path(folder, "src"), "kept"), *((here, case) for case in CASES)]
        turns = [[_turn(*side) for side in sides] for _ in range(TURNS)]
    before, *now = (min(column) for column in zip(*turns, strict=True))
    print(f"before: {before:.2f} ms")
    for case, cost in zip(CASES, now, strict=True):
        print(f"now, {case}: {cost:.2f} ms, {cost / before:.2f} times")


if __name__ == "__main__":
    main()
