"""`localarc.many.calibrate` beside a panel, and late losses beside scores, on 64,000 events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.keyed.sections import Cost, cpu
from localarc import ARC, Panel
from localarc.curves import miscoverage
from localarc.many import Columns, calibrate

EVENTS, KEYS = 64_000, 1_000
HOT = 0.9  # of the events are of one key, in the second part


def measure() -> Iterator[Cost]:
    """Frames of every library beside a panel; then the ways to learn, with a hot key."""
    yield from _libraries(_events(0.0))
    yield from _modes(_events(HOT))


def _events(hot: float) -> Any:
    import pandas

    random = np.random.default_rng(0)
    numbers = random.integers(0, KEYS, EVENTS)
    numbers[random.uniform(size=EVENTS) < hot] = 0
    frame = pandas.DataFrame({"key": [f"customer-{i:07d}" for i in numbers.tolist()]})
    frame["order"] = frame.groupby("key").cumcount() + 1
    return frame.assign(score=np.abs(random.normal(size=EVENTS)), id=np.arange(EVENTS))


def _libraries(frame: Any) -> Iterator[Cost]:
    import duckdb
    import polars

    keys, curves = frame["key"].tolist(), miscoverage(frame["score"].to_numpy())
    bare = cpu(lambda: Panel(ARC(0.1)).replay(keys, None, curves))
    yield Cost("Panel.replay", EVENTS, bare / EVENTS * 1e6, 1.0, "Panel.replay")
    frames = {
        "pandas": frame,
        "Polars": polars.from_pandas(frame),
        "PyArrow": polars.from_pandas(frame).to_arrow(),
        "DuckDB": duckdb.from_df(frame),
    }
    for name, each in frames.items():
        spent = cpu(lambda each=each: _score(each))  # type: ignore[misc]
        way = f"keyed.calibrate, {name}"
        yield Cost(way, EVENTS, spent / EVENTS * 1e6, spent / bare, "Panel.replay")


def _modes(frame: Any) -> Iterator[Cost]:
    losses = frame.assign(cost=(frame["score"] > 1.0) * 1.0)
    late = _asks_and_outcomes(frame)
    with_losses = Columns(key="key", order="order", loss="cost")
    in_two = Columns(key="key", order="order", score="score", kind="kind", id="id")
    ways = {
        "score=": lambda: _score(frame),
        "loss=": lambda: calibrate(losses, with_losses, ARC(0.1)),
        "kind=, two rows per event": lambda: calibrate(late, in_two, ARC(0.1)),
    }
    spent = {name: cpu(way) for name, way in ways.items()}
    for name, seconds in spent.items():
        ratio = seconds / spent["score="]
        way = f"{HOT:.0%} on one key, {name}"
        yield Cost(way, EVENTS, seconds / EVENTS * 1e6, ratio, "score=")


def _score(frame: Any) -> Any:
    return calibrate(frame, Columns(key="key", order="order", score="score"), ARC(0.1))


def _asks_and_outcomes(frame: Any) -> Any:
    """The same events as asks, and up to fifty rows later their scores."""
    import pandas

    random = np.random.default_rng(1)
    asks = frame[["key", "id"]].assign(kind="ask", time=np.arange(EVENTS) * 1.0)
    outcomes = frame[["key", "id", "score"]].assign(kind="learn")
    outcomes["time"] = np.arange(EVENTS) + random.integers(0, 50, EVENTS) + 0.5
    both = pandas.concat([asks, outcomes]).sort_values("time", ignore_index=True)
    return both.assign(order=both.groupby("key").cumcount() + 1)
