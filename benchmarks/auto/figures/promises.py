"""Promises: what was observed at each place of Elec2, and what is promised there."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.auto.promises import calibrated, places
from localarc.figures.frame import frame, legend
from localarc.figures.palette import INK, METHODS


def draw(path: Path) -> None:
    known = places(calibrated())
    shown = known.weights >= 20.0
    figure = Figure(figsize=(8.0, 4.4), layout="constrained")
    axes = figure.subplots()
    weights = known.weights[shown]
    axes.semilogx(
        weights, known.bounds[shown], ".", color=INK, ms=3, label="promise: at most this much above"
    )
    axes.semilogx(
        weights,
        known.deviations[shown],
        ".",
        color=METHODS["AutoLARC"],
        ms=3,
        label="observed risk minus target",
    )
    axes.axhline(0.0, color="0.6", lw=0.8)
    kept = int((known.deviations[shown] <= known.bounds[shown]).sum())
    title = f"The promise holds at {kept:,} of {len(weights):,} places of Elec2"
    frame(axes, title, "rounds at the place (weight)", "risk minus target")
    legend(axes)
    figure.savefig(path, dpi=160)
