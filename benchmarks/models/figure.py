"""A figure: how far the worst third of each stream is from the target, by method."""

from __future__ import annotations

from pathlib import Path

from benchmarks.models.interval_rows import IntervalRow, by_stream
from localarc.figures.frame import frame, legend
from localarc.figures.palette import FAINT, colours

_OURS = "localarc"
METHODS = _OURS, "localarc, asymmetric", "MAPIE ACI", "crepes online", "river jackknife"
COLOURS = colours(METHODS)


def draw(rows: list[IntervalRow], path: Path) -> None:
    """One line per stream, one dot with two standard errors per method."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    streams = by_stream(rows)
    figure, axes = pyplot.subplots(figsize=(7.5, 0.36 * len(streams) + 1.6), layout="constrained")
    names = sorted(streams, key=lambda name: max(r.worst.distance for r in streams[name].values()))
    for line, name in enumerate(names):
        axes.axhline(line, color=FAINT, linewidth=0.4, zorder=0)
        for k, (method, row) in enumerate(streams[name].items()):
            axes.errorbar(
                row.worst.distance,
                line + 0.15 * ((len(streams[name]) - 1) / 2 - k),
                xerr=2.0 * row.worst.error,
                fmt="o",
                markersize=4,
                linewidth=0.8,
                color=COLOURS[method],
                label=method if line == 0 else None,
            )
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(left=0.0)
    axes.set_ylim(-0.7, len(names) - 0.3)
    frame(axes, _finding(streams), "distance of the worst third's coverage from 0.9", "")
    legend(axes)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def _finding(streams: dict[str, dict[str, IntervalRow]]) -> str:
    """On how many streams localarc, with its defaults alone, is nearer to the target than peers."""
    won = 0
    for found in streams.values():
        peers = [row.worst.distance for name, row in found.items() if not name.startswith(_OURS)]
        won += found[_OURS].worst.distance < min(peers)
    return f"localarc's worst third is nearest to the target on {won} of {len(streams)} streams"
