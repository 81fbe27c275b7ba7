"""The panels of intervals over time: the latest intervals, and rolling coverages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localarc.figures.frame import frame, legend, plain, short
from localarc.figures.interval_rounds import Rounds, Run
from localarc.figures.palette import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS_WIDE = 520.0  # of a panel


def draw_intervals(
    axes: Axes, run: Run, rounds: Rounds, colour: str, limits: tuple[float, float]
) -> None:
    """Draw the latest intervals with their outcomes, and a cross for each miss."""
    part = rounds.shown
    times, outcomes, covered = rounds.times[part], rounds.outcomes[part], run.covered[part]
    lower, upper = run.lower[part], run.upper[part]
    bottom, top = limits
    thick = float(np.clip(0.7 * _POINTS_WIDE / len(times), 0.6, 8.0))
    some = lower <= upper
    ends = np.maximum(lower, bottom)[some], np.minimum(upper, top)[some]
    axes.vlines(times[some], *ends, color=colour, alpha=0.35, linewidth=thick, label="interval")
    known = rounds.known[part]
    hit, miss = known & covered, known & ~covered
    axes.plot(times[hit], outcomes[hit], ".", color=INK, markersize=3, label="covered")
    axes.plot(times[miss], outcomes[miss], "x", color=INK, markersize=6, mew=1.6, label="missed")
    axes.set_ylim(bottom, top)
    axes.set_xlim(*_from_to(times))
    share, width = 100.0 * run.share(rounds), run.width
    title = f"{short(run.name, 32)}: {share:.1f} % covered, mean width {width:.3g}"
    frame(axes, title, "", rounds.unit)


def draw_rolling(
    axes: Axes, runs: Sequence[Run], rounds: Rounds, colour: Mapping[str, str], when: str
) -> None:
    """Draw the rolling coverage of every method, the target, and how far chance goes."""
    times, goal = rounds.times[rounds.known], rounds.coverage
    spread = 2.0 * float(np.sqrt(goal * (1.0 - goal) / rounds.window))
    axes.axhspan(goal - spread, goal + spread, color=FAINT, alpha=0.2, lw=0, label="chance")
    axes.axhline(goal, color=INK, linestyle="--", linewidth=1.2, label=f"target {100 * goal:g} %")
    lines = {run.name: run.rolling(rounds) for run in runs}
    for name, line in lines.items():
        axes.plot(times, line, color=colour[name], linewidth=1.8, label=plain(name))
    lowest = min(float(np.nanmin(line)) for line in lines.values())
    axes.set_ylim(max(0.0, min(lowest, goal - spread) - 0.03), 1.005)
    axes.set_xlim(*_from_to(rounds.times))
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    if rounds.shown.start > 0:
        axes.axvspan(*rounds.times[[rounds.shown.start, -1]], color=FAINT, alpha=0.15, lw=0)
    title = f"Covered of the latest {rounds.window} outcomes"
    legend(frame(axes, title, when, "covered"))


def _from_to(times: NDArray[Any]) -> tuple[Any, Any]:
    """Return where the time axis begins and ends: half a round around the first and last."""
    half = (times[-1] - times[0]) / (2 * max(1, len(times) - 1))
    if not half:
        half = np.timedelta64(12, "h") if times.dtype.kind == "M" else 0.5
    return times[0] - half, times[-1] + half


def value_limits(runs: Sequence[Run], rounds: Rounds) -> tuple[float, float]:
    """Return where the axis of all methods begins and ends: around the finite values shown."""
    values = [rounds.outcomes, *(end for run in runs for end in (run.lower, run.upper))]
    finite = np.concatenate(
        [each[rounds.shown][np.isfinite(each[rounds.shown])] for each in values]
    )
    if not len(finite):
        return 0.0, 1.0
    margin = 0.05 * (float(np.ptp(finite)) or 1.0)
    return float(finite.min()) - margin, float(finite.max()) + margin
