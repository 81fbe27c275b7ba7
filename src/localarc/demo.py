"""The demo: a stream with an easy and a hard side, with ARC and with L-ARC."""

from __future__ import annotations

import os
from collections.abc import Mapping

from localarc.control.calibrator import Calibrator
from localarc.control.kernels import RBF
from localarc.control.larc import ARC, LARC
from localarc.record import Record
from localarc.streams import Stream
from localarc.streams.synthetic import heteroscedastic

KERNEL = RBF(length_scale=0.3)


def stream(rounds: int = 6000, seed: int = 0) -> Stream:
    """The unit square, ever harder to cover from left to right, and twice as hard from half-way."""
    return heteroscedastic(rounds, seed)


def calibrators() -> dict[str, Calibrator]:
    """ARC and L-ARC, both for a mean loss of 0.1."""
    return {"ARC": ARC(alpha=0.1), "L-ARC": LARC(alpha=0.1, kernel=KERNEL)}


def save_figure(path: str | os.PathLike[str], records: Mapping[str, Record]) -> None:
    """Risk and set size by group, side by side, as one picture."""
    from matplotlib.figure import Figure

    from localarc.figures import group_risk, group_size

    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    group_risk(left, records)
    group_size(right, records)
    figure.savefig(path, dpi=160)
