"""One stream that breaks: its risk over time, the lower limits and the moments of the alarms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.monitoring.watchers import LIMIT, TARGET
from localarc.figures.frame import frame, legend
from localarc.figures.palette import CATEGORIES, INK
from localarc.monitoring import Health, Monitor

GOOD, BAD = 4_000, 6_000
_RISE = 0.1
_STEP = 10
_COLOURS = {"all rounds": CATEGORIES[0], "recent rounds": CATEGORIES[1]}


def draw(path: Path) -> None:
    """All rounds above, the last 1,000 below."""
    found, alarms = watched()
    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    at = np.array([health.rounds for health in found])
    _panel(upper, at, [s.risk or 0.0 for s in found], [s.at_least for s in found], "all rounds")
    recent = [s.recent_risk or 0.0 for s in found]
    _panel(lower, at, recent, [s.recent_at_least for s in found], "recent rounds")
    for axes, status in ((upper, "broken"), (lower, "drifting")):
        _mark(axes, status, alarms[status])
    late = {status: f"{at - GOOD:,} rounds after the rise" for status, at in alarms.items()}
    frame(upper, f"All rounds: broken, {late['broken']}", "", "risk")
    frame(lower, f"The last 1,000 rounds: drifting, {late['drifting']}", "round", "risk")
    for axes in (upper, lower):
        legend(axes)
    figure.savefig(path, dpi=160)


def watched() -> tuple[list[Health], dict[str, int]]:
    """The health of one stream, over time, whose risk doubles, and the rounds of its alarms."""
    rng = np.random.default_rng(4)
    risk = np.where(np.arange(GOOD + BAD) < GOOD, TARGET, TARGET + _RISE)
    losses = (rng.random(GOOD + BAD) < risk).astype(float)
    monitor, found, alarms = Monitor(TARGET), [], {}
    for t, loss in enumerate(losses.tolist(), start=1):
        if changed := monitor.update(loss):
            alarms[str(changed)] = t
        if t % _STEP == 0 and t >= 100:
            found.append(monitor.health())
    return found, alarms


def _panel(axes: Axes, at: np.ndarray, risk: list[float], limit: list[float], what: str) -> None:
    """A risk and its lower limit, with the target and the tolerance above it."""
    colour = _COLOURS[what]
    axes.plot(at, risk, lw=1.2, color=colour, label="risk")
    axes.plot(at, limit, lw=1.2, ls="--", color=colour, label="lower limit")
    axes.fill_between(at, limit, risk, color=colour, alpha=0.12, lw=0)
    axes.axhline(TARGET, color=INK, lw=0.8, label="target")
    axes.axhline(LIMIT, color=INK, lw=0.8, ls=":", label="target + tolerance")
    axes.axvline(GOOD, color=INK, lw=0.8, ls=(0, (1, 3)))
    axes.set_ylim(0.0, 0.26)


def _mark(axes: Axes, status: str, at: int) -> None:
    """The moment of an alarm."""
    axes.axvline(at, color=INK, lw=1.4)
    text = f"{status}: round {at:,}, {at - GOOD:,} after the rise"
    axes.annotate(text, (at, 0.25), (6, -4), textcoords="offset points", va="top", color=INK)
