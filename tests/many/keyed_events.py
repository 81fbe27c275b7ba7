"""Keyed rows to test with, and what separate calibrators make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas

from localarc import ARC, LARC, RBF, AutoLARC, KeepLast, Lattice, Panel
from localarc.many import Columns
from localarc.many.panel.streams import Prototype
from localarc.many.rows.bucket import Bucket

PROTOTYPES: dict[str, tuple[Prototype, int]] = {
    "ARC": (ARC(0.1), 0),
    "ARC, stated scores": (ARC(0.1, score_range=(0.0, 1.0)), 0),
    "L-ARC": (LARC(0.1, RBF.from_paper(0.5), memory=KeepLast(7)), 2),
    "L-ARC, stated scores": (LARC(0.1, RBF.from_paper(0.5), score_range=(0.0, 1.0)), 1),
    "L-ARC, lattice": (LARC(0.1, RBF.from_paper(0.5), memory=Lattice(1e-6)), 1),
    "AutoLARC": (AutoLARC(0.1), 1),
}


def scored(keys: int = 4, rows: int = 60, dimension: int = 0, seed: int = 0) -> Any:
    """Events in order, with columns that have no role."""
    random = np.random.default_rng(seed)
    frame = pandas.DataFrame({"key": [f"key {i}" for i in random.integers(0, keys, rows)]})
    frame["order"] = frame.groupby("key").cumcount() + 1
    for i in range(dimension):
        frame[f"x{i}"] = random.uniform(size=rows)
    frame["score"] = np.abs(random.normal(size=rows))
    frame["when"] = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(np.arange(rows), "h")
    return frame


def late(keys: int = 4, rows: int = 60, dimension: int = 0, seed: int = 0) -> Any:
    """The same events as asks, and a few rows later their scores."""
    random = np.random.default_rng(seed + 1)
    events = scored(keys, rows, dimension, seed).drop(columns="order")
    events["id"] = [f"event {i}" for i in range(rows)]
    inputs = [name for name in events.columns if name.startswith("x")]
    asks = events.drop(columns="score").assign(kind="ask", time=np.arange(rows) * 1.0)
    outcomes = events.drop(columns=inputs).assign(kind="learn")
    outcomes["time"] = np.arange(rows) + random.integers(0, 9, rows) + 0.5
    both = pandas.concat([asks, outcomes]).sort_values("time", ignore_index=True)
    return both.assign(order=both.groupby("key").cumcount() + 1)


class Alone:
    """One calibrator per key, in a plain loop."""

    def __init__(self, prototype: Prototype) -> None:
        self._new = Panel(prototype).prototype.state()
        self._kind = type(prototype)
        self.calibrators: dict[str, Any] = {}

    def of(self, key: str) -> Any:
        """The calibrator of a key."""
        if key not in self.calibrators:
            one = self.calibrators[key] = self._kind.from_state(self._new)
            if not isinstance(one, AutoLARC):
                one.silence()  # as a panel is
        return self.calibrators[key]

    def thresholds(self, rows: Any) -> list[float]:
        """The threshold of each row: of an ask now, of a row that learns when it was asked for."""
        asked: dict[Any, Any] = {}
        found = []
        for row in rows.to_dict("records"):
            one, place = self.of(row["key"]), (row["key"], row["id"])
            if row["kind"] == "ask":
                x = np.array([row[name] for name in rows.columns if name.startswith("x")])
                ticket = one.ask(x) if isinstance(one, AutoLARC) else None
                threshold = one.threshold(x) if ticket is None else ticket.threshold
                asked[place] = x, float(threshold), ticket
            x, threshold, ticket = asked[place]
            if row["kind"] == "learn":
                loss = float(row["score"] > threshold)
                if ticket is None:
                    one.update_late(x, loss, threshold)
                else:
                    one.tell(ticket, loss, row["score"])
                del asked[place]
            found.append(threshold)
        return found


def columns_of(dimension: int = 0, **more: Any) -> Columns:
    """What the columns above mean."""
    usual: dict[str, Any] = {"key": "key", "order": "order", "score": "score"}
    return Columns(**(usual | {"features": [f"x{i}" for i in range(dimension)]} | more))


def learn(bucket: Bucket, frame: Any, rejects: bool = False) -> Any:
    """The added columns of a pandas frame."""
    import pyarrow

    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    return bucket.calibrate(table, rejects).table(rejects).to_pandas()
