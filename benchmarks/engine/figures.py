"""The two figures of docs/performance.md."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.engine.cases import Cost, Growth
from localarc.figures.frame import frame, legend
from localarc.figures.palette import METHODS

_NEAR = 1e-6  # of thresholds
_LINES = {  # memories of L-ARC, and AutoLARC; the dimension is a style of the line
    "KeepAll": METHODS["L-ARC"],
    "Lattice": "tab:pink",
    "Dictionary(1e-4)": "tab:olive",
    "KeepLast(1000)": "tab:purple",
    "AutoLARC": METHODS["AutoLARC"],
}


def growth(path: Path, points: list[Growth]) -> None:
    """Time per step against t."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.subplots()
    names = list(dict.fromkeys(point.name for point in points))
    for name in names:
        mine = [(point.t, point.microseconds) for point in points if point.name == name]
        memory, _, dimension = name.partition(", ")
        style = {"color": _LINES[memory], "linestyle": "-" if dimension == "d = 7" else "--"}
        axes.loglog(*zip(*mine, strict=True), marker="o", label=name, **style)
    growths = {name: _growth(points, name) for name in names}
    worst = max(growths, key=growths.__getitem__)
    others = max(value for name, value in growths.items() if name != worst)
    title = (
        f"A step of {worst.partition(',')[0]} takes {growths[worst]:.0f} times as long at the end, "
        f"others at most {others:.1f} times"
    )
    frame(axes, title, "t", "microseconds per step (replay)")
    legend(axes)
    figure.savefig(path, dpi=160)


def _growth(points: list[Growth], name: str) -> float:
    """The time per step of the longest stream, over that of the shortest."""
    mine = sorted((point.t, point.microseconds) for point in points if point.name == name)
    return mine[-1][1] / mine[0][1]


def costs(path: Path, measured: list[Cost]) -> None:
    """Largest deviation from the exact thresholds against time per step."""
    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    streams = list(dict.fromkeys(cost.stream for cost in measured))
    for axes, stream in zip(figure.subplots(1, len(streams)), streams, strict=True):
        for cost in measured:
            if cost.stream == stream:
                at = cost.microseconds, cost.deviation
                axes.loglog(*at, "o", color=METHODS["L-ARC"])
                axes.annotate(cost.memory, at, (6, 4), textcoords="offset points", fontsize=8)
        axes.set_xlim(0.2, 40.0)
        axes.set_ylim(1e-15, 10.0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        exact = [cost for cost in measured if cost.stream == stream and cost.deviation <= _NEAR]
        best = min(exact, key=lambda cost: cost.microseconds)
        title = f"{stream}: within {_NEAR:g}, {best.memory} is fastest, {best.microseconds:.2g} us"
        frame(axes, title, "microseconds per step (replay)", "largest threshold deviation")
    figure.savefig(path, dpi=160)
