"""A bucket in a micro-batch of few events: the CPU time of what Python does, without Spark.

    python -m benchmarks.keyed.bucket_steps --before REVISION

compares the working tree with an earlier revision, in processes that take turns (two minutes).
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


def measure() -> Iterator[Cost]:
    """A bucket that the worker kept, and one that it has to decode."""
    for name, keys in (("ARC", 1000), ("AutoLARC", 100)):
        decoded, kept = (milliseconds(name, keys, keeps) for keeps in (False, True))
        rows = f"{name}, {keys} keys, {EVENTS} events"
        yield Cost(f"{rows}: decoded", EVENTS, decoded * 1000 / EVENTS, 1.0, "itself")
        ratio = kept / decoded
        yield Cost(f"{rows}: kept", EVENTS, kept * 1000 / EVENTS, ratio, "decoded")


def milliseconds(name: str, keys: int, keeps: bool) -> float:
    """CPU milliseconds of `handleInputRows`, the least of many."""
    learn = _processor(name)
    names = np.array([f"customer-{i:07d}" for i in range(keys)])
    learn(names, 1)
    repeats = REPEATS if name == "ARC" else 20
    return min(learn(names[:EVENTS], order, keeps) for order in range(2, repeats + 2)) * 1e3


def _processor(name: str) -> Callable[..., float]:
    """A function that learns an event of each name, and returns the CPU seconds of it."""
    import pandas

    import localarc
    from localarc.keyed.roles import Roles
    from localarc.spark.passing import NULLS, PassingColumns, alias
    from localarc.spark.processor import BucketProcessor, Job

    columns = PassingColumns(("key", "order", "score"), ("string", "bigint", "double"))
    roles = Roles(("key",), "order", (), "score")
    processor = BucketProcessor(Job(getattr(localarc, name)(0.1), 4, roles, columns, False))
    held: dict[str, Any] = {}
    processor.init(SimpleNamespace(getValueState=lambda *given: _state(held)))
    random = np.random.default_rng(0)

    def learn(names: Any, order: int, keeps: bool = True) -> float:
        scores = np.abs(random.normal(size=len(names)))
        rows: dict[str, Any] = {alias(0): names, alias(1): order, alias(2): scores, NULLS: 0}
        frame = pandas.DataFrame(rows)
        if not keeps:
            _forget()
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


def _forget() -> None:
    from localarc.spark.recent import RECENT

    RECENT._found.clear()
    RECENT._bytes = 0


def _turn(source: Path) -> float:
    """The milliseconds that the code in a folder takes, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-m", "benchmarks.keyed.bucket_steps"]
    found = subprocess.run(command, env=environment, check=True, capture_output=True)
    return float(json.loads(found.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="a revision to compare with")
    options = parser.parse_args()
    if options.before is None:
        print(json.dumps(milliseconds("ARC", 1000, True)))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", options.before, "src"], check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        sources = Path(folder, "src"), Path("src").absolute()
        turns = [[_turn(source) for source in sources] for _ in range(TURNS)]
    before, now = zip(*turns, strict=True)
    print(f"before {min(before):.2f} ms, now {min(now):.2f} ms: {min(now) / min(before):.2f} times")


if __name__ == "__main__":
    main()
