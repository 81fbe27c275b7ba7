"""Keyed events to test with, and their thresholds in one process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from localarc import AutoLARC, Panel
from localarc.many.panel.streams import Prototype


def keyed(keys: int, rounds: int, dimension: int = 0, seed: int = 0) -> Any:
    """One row for each of `rounds` events of each key, shuffled within each order."""
    random = np.random.default_rng(seed)
    names = [f"key {i}" for i in range(keys)]
    rows = [
        (name, order)
        for order in range(1, rounds + 1)
        for name in random.permutation(names).tolist()
    ]
    frame = pandas.DataFrame(rows, columns=["key", "order"])
    for i in range(dimension):
        frame[f"x{i}"] = random.uniform(size=len(frame))
    frame["score"] = np.abs(random.normal(size=len(frame)))
    return frame


def alone(
    frame: Any, calibrator: Prototype
) -> tuple[dict[str, Prototype], dict[tuple[str, int], float]]:
    """The calibrator of each key after a plain loop, and the threshold of each event."""
    features = [name for name in frame.columns if name.startswith("x")]
    fresh = Panel(calibrator).prototype.state()
    calibrators: dict[str, Prototype] = {}
    thresholds = {}
    for row in frame.sort_values(["order", "key"]).to_dict("records"):
        one = calibrators.setdefault(row["key"], type(calibrator).from_state(fresh))
        x = np.array([row[name] for name in features])
        threshold = float(one.threshold(x))
        thresholds[row["key"], row["order"]] = threshold
        scores = (row["score"],) if isinstance(one, AutoLARC) else ()
        one.update(x, float(row["score"] > threshold), *scores)
    return calibrators, thresholds


def write(frame: Any, folder: Path, number: int) -> None:
    """The frame as files, in the order in which Spark will read them: that of their times."""
    folder.mkdir()
    for i, part in enumerate(np.array_split(np.arange(len(frame)), number)):
        path = folder / f"{i}.parquet"  # pandas 2 has nanoseconds, which Spark does not read
        frame.iloc[part].to_parquet(path, index=False, coerce_timestamps="us")
        os.utime(path, (1e9 + i, 1e9 + i))
