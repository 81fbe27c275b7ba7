"""What is in golden folders of keyed tables, which `make_golden.py` writes."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow

from localarc import ARC, LARC, RBF, AutoLARC, KeepLast, Lattice
from localarc.many import KeyedStreams
from many.settings import keyed_settings

KEYS = ["ann", "DE/Berlin", "eve"]
LATE: dict[str, Any] = {"kind": "kind", "id": "id", "max_pending": 50}
TIMED: dict[str, Any] = {"time": "at", "id": "id", "delay": timedelta(seconds=5)}
CASES: dict[str, tuple[Any, int, dict[str, Any]]] = {
    "arc": (ARC(0.1, 0.5, score_range=(0.0, 2.0)), 0, {}),
    "arc_pending": (ARC(0.1, 0.5, floor=0.1), 0, LATE),
    "arc_waiting": (ARC(0.1), 0, TIMED),
    "larc_window": (LARC(0.1, RBF(0.4), memory=KeepLast(7, archive=False)), 2, {}),
    "larc_lattice_pending": (LARC(0.1, RBF(0.5), memory=Lattice(1e-6)), 1, LATE),
    "auto": (AutoLARC(0.1), 1, {}),
}
"""Calibrator, number of features, and further roles and limits of each golden table."""


def rows(case: str, start: int, stop: int) -> pyarrow.Table:
    """Events of a case without any random numbers, in the form that its roles ask for."""
    _, features, more = CASES[case]
    numbers = range(start, stop)
    columns: dict[str, Any] = {
        "key": [KEYS[i * i % 7 % 3] for i in numbers],
        "id": [f"event {i}" for i in numbers],
        "score": [i * 37 % 101 / 50 for i in numbers],
    }
    for j in range(features):
        columns[f"x{j}"] = [(i * 53 + 29 * j) % 97 / 97 for i in numbers]
    if more is TIMED:
        columns["at"] = pyarrow.array([1_000_000 * i for i in numbers], pyarrow.timestamp("us"))
    if more is not LATE:
        return pyarrow.table(columns)
    asks = pyarrow.table(columns | {"kind": ["ask"] * len(numbers)})
    known = pyarrow.table(columns | {"kind": ["learn"] * len(numbers)})
    return pyarrow.concat_tables([asks, known.slice(0, len(numbers) - 2)])  # two stay pending


def streams(case: str) -> KeyedStreams:
    """Streams of a case that have learned."""
    calibrator, features, more = CASES[case]
    names = [f"x{j}" for j in range(features)]
    made = KeyedStreams(
        **keyed_settings(calibrator=calibrator, key="key", features=names, score="score", **more)
    )
    made.calibrate(rows(case, 0, 40))
    return made


def continued(made: KeyedStreams, case: str) -> list[str]:
    """The thresholds of further events, and of those that were waiting."""
    last = CASES[case][2] is TIMED
    found = made.calibrate(rows(case, 40, 60), last=last)["threshold"].to_pylist()
    return [float(value).hex() for value in found]


def write(folder: Path) -> None:
    """Fill a folder."""
    expected = {}
    for case in CASES:
        made = streams(case)
        made.save(folder / f"{case}.parquet")
        expected[case] = continued(made, case)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
