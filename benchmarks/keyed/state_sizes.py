"""The size of one key's state and the time of one event in a panel, by memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from localarc import ARC, LARC, RBF, AutoLARC, Dictionary, KeepLast, Lattice, Panel
from localarc.curves import miscoverage
from localarc.many.panel.streams import Prototype

ALPHA = 0.1
KEYS = 50


def calibrators() -> dict[str, tuple[Prototype, int]]:
    """The calibrators, and their number of features; inputs lie in the unit cube."""
    kernel = RBF.from_paper(0.25)
    return {
        "ARC": (ARC(ALPHA), 1),
        "L-ARC, Lattice(1e-6), d = 1": (LARC(ALPHA, kernel, memory=Lattice(1e-6)), 1),
        "L-ARC, Lattice(1e-6), d = 2": (LARC(ALPHA, kernel, memory=Lattice(1e-6)), 2),
        "L-ARC, Dictionary(1e-2, 64), d = 5": (
            LARC(ALPHA, kernel, memory=Dictionary(1e-2, max_size=64)),
            5,
        ),
        "L-ARC, KeepLast(100), d = 5": (
            LARC(ALPHA, kernel, memory=KeepLast(100, archive=False)),
            5,
        ),
        "AutoLARC, d = 1": (AutoLARC(ALPHA), 1),
        "AutoLARC, d = 2": (AutoLARC(ALPHA), 2),
        "AutoLARC, d = 5": (AutoLARC(ALPHA), 5),
    }


@dataclass(frozen=True)
class StateSize:
    """Bytes per key after 100 and 1,000 rounds, and CPU microseconds per event."""

    calibrator: str
    early: float
    late: float
    microseconds: float


def state_sizes() -> Iterator[StateSize]:
    """Measure every calibrator."""
    for name, (calibrator, dimension) in calibrators().items():
        panel = Panel(calibrator)
        _play(panel, 100, dimension)
        early = len(panel.state()) / KEYS
        spent = _play(panel, 900, dimension)
        yield StateSize(name, early, len(panel.state()) / KEYS, spent * 1e6)


def table(sizes: list[StateSize]) -> Table:
    """The sizes, aligned."""

    head = (
        "calibrator",
        "bytes per key, t = 100",
        "bytes per key, t = 1,000",
        "CPU us/event in a panel",
    )
    made = Table(*head, box=None, header_style="bold")
    for size in sizes:
        bytes_per_key = f"{size.early:,.0f}", f"{size.late:,.0f}"
        made.add_row(size.calibrator, *bytes_per_key, f"{size.microseconds:.1f}")
    return made


def _play(panel: Panel, rounds: int, dimension: int) -> float:
    """CPU seconds per event."""
    random = np.random.default_rng(rounds)
    keys = [f"customer {i}" for _ in range(rounds) for i in range(KEYS)]
    X = random.uniform(size=(len(keys), dimension))
    curves = miscoverage(np.abs(random.normal(size=len(keys))))
    start = time.process_time()
    panel.replay(keys, X, curves)
    return (time.process_time() - start) / len(keys)
