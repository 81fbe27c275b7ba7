"""How much state one key takes, and one event in a panel, for ARC and for L-ARC's memories."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from localarc import ARC, LARC, RBF, Dictionary, KeepLast, Lattice, Panel
from localarc.curves import miscoverage

ALPHA = 0.1
KEYS = 50


def calibrators() -> dict[str, tuple[ARC | LARC, int]]:
    """What is measured, and the number of its features; inputs lie in the unit cube."""
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
    }


def table() -> Any:
    from rich.table import Table

    head = (
        "calibrator",
        "bytes a key, t = 100",
        "bytes a key, t = 1,000",
        "CPU us/event in a panel",
    )
    made = Table(*head, box=None, header_style="bold")
    for name, (calibrator, dimension) in calibrators().items():
        panel = Panel(calibrator)
        _play(panel, 100, dimension)
        early = len(panel.state()) / KEYS
        spent = _play(panel, 900, dimension)
        late = len(panel.state()) / KEYS
        made.add_row(name, f"{early:,.0f}", f"{late:,.0f}", f"{spent * 1e6:.1f}")
    return made


def _play(panel: Panel, rounds: int, dimension: int) -> float:
    """CPU seconds an event."""
    random = np.random.default_rng(rounds)
    keys = [f"customer {i}" for _ in range(rounds) for i in range(KEYS)]
    X = random.uniform(size=(len(keys), dimension))
    curves = miscoverage(np.abs(random.normal(size=len(keys))))
    start = time.process_time()
    panel.replay(keys, X, curves)
    return (time.process_time() - start) / len(keys)
