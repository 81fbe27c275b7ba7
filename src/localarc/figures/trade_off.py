"""The trade-off of tuning: set size against the risk of the worst neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.larc import LARC
from localarc.figures.frame import frame, legend, target_line
from localarc.figures.palette import INK, colours
from localarc.rates import Constant
from localarc.running.tune import Tuning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST, _LARGEST = 5.0, 11.0  # dots, in points


def trade_off(axes: Axes, tuning: Tuning) -> Axes:
    """Draw every candidate by mean set size and risk of its worst neighbourhood.

    Candidates that differ only in their rate share a colour, and larger dots have larger rates.
    Squares have a constant rate. A ring marks the selected one. Its results on the held-out rounds
    are written below the figure, since set sizes of different rounds are not comparable.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    tuning : Tuning
        What `tune` returned.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from localarc import ARC, LARC, RBF
    >>> from localarc import tune
    >>> from localarc.streams import heteroscedastic
    >>> stream = heteroscedastic(400, seed=0)
    >>> tuning = tune(stream.X, stream.curves, [ARC(0.1), LARC(0.1, RBF(0.4))], RBF(0.4))
    >>> trade_off(Figure().subplots(), tuning).get_xlabel()
    'mean set size'
    """
    names = [family(candidate) for candidate in tuning.candidates]
    steps = [_first_step(candidate) for candidate in tuning.candidates]
    marks = ["s" if _has_constant_rate(each) else "o" for each in tuning.candidates]
    colour = _colours(list(dict.fromkeys(names)))
    for name, mark in dict.fromkeys(zip(names, marks, strict=True)):
        mine = [i for i in range(len(names)) if (names[i], marks[i]) == (name, mark)]
        mine.sort(key=lambda i: steps[i])
        sizes, risks = np.array([_position(tuning, i) for i in mine]).T
        errors = [tuning.evaluations[i].worst_error for i in mine]
        axes.errorbar(sizes, risks, errors, color=colour[name], alpha=0.5, lw=1.0)
        for i, dot in zip(mine, _dots([steps[i] for i in mine], steps), strict=True):
            label = name if i == names.index(name) else None
            axes.plot(*_position(tuning, i), mark, color=colour[name], ms=dot, label=label)
    position = _position(tuning, tuning.selected)
    axes.plot(*position, "o", ms=18, mfc="none", mec=INK, mew=1.6, label="selected")
    target_line(axes, tuning.evaluations[0].alpha)
    axes.set_ylim(bottom=0.0)
    axes.text(
        0.0, -0.17, _key(tuning, steps), transform=axes.transAxes, color=INK, va="top", fontsize=9
    )
    chosen = tuning.evaluations[tuning.selected]
    title = (
        f"Selected: {names[tuning.selected]}, risk {chosen.worst:.3f} in the worst neighbourhood "
        f"of the first {chosen.rounds:,} rounds"
    )
    return legend(frame(axes, title, "mean set size", "risk in the worst neighbourhood"))


def _position(tuning: Tuning, i: int) -> tuple[float, float]:
    """Return the coordinates of a candidate."""
    return tuning.evaluations[i].size, tuning.evaluations[i].worst


def _dots(mine: Sequence[float], all_steps: Sequence[float]) -> list[float]:
    """Return the size of each dot, by the rank of its rate."""
    ranks = sorted(set(all_steps))
    span = max(len(ranks) - 1, 1)
    return [_SMALLEST + (_LARGEST - _SMALLEST) * ranks.index(step) / span for step in mine]


def _colours(names: list[str]) -> dict[str, str]:
    """Return colours by name; variants of L-ARC go from light to dark, in their order."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    variants = [name for name in names if name.startswith("L-ARC ")]
    shades = colormaps["Blues"](np.linspace(0.4, 1.0, max(len(variants), 2)))
    fixed = colours(name for name in names if name not in variants)
    return fixed | {name: to_hex(shade) for name, shade in zip(variants, shades, strict=False)}


def _key(tuning: Tuning, steps: Sequence[float]) -> str:
    """Return the text below the figure."""
    rates = ", ".join(f"{step:g}" for step in sorted(set(steps)))
    first = f"Larger dots have larger rates: {rates}. Bars show one standard error."
    if any(_has_constant_rate(candidate) for candidate in tuning.candidates):
        first += "\nSquares have a constant rate, circles one that decreases."
    result = tuning.held_out
    if result is None:
        return f"{first}\nNo rounds were held out, so the selected candidate is not evaluated."
    return (
        f"{first}\nThe selected candidate on the last {result.rounds:,} rounds, held out:\n"
        f"worst neighbourhood {result.worst:.3f} ± {result.worst_error:.3f}, "
        f"risk {result.risk:.3f}, mean size {result.size:.3g}."
    )


def _first_step(candidate: BaseCalibrator) -> float:
    """Return the rate of the first round."""
    return candidate.settings.rate(1) if isinstance(candidate, AdaptiveCalibrator) else 1.0


def _has_constant_rate(candidate: BaseCalibrator) -> bool:
    return isinstance(candidate, AdaptiveCalibrator) and isinstance(
        candidate.settings.rate, Constant
    )


def family(candidate: BaseCalibrator) -> str:
    """Return the name that candidates share if they differ only in their rate."""
    if not isinstance(candidate, LARC):
        return type(candidate).__name__
    kernel = candidate.kernel
    lengths = getattr(kernel, "length_scale", None)
    if not isinstance(lengths, float | tuple):
        return f"L-ARC {kernel!r}"
    name = "" if type(kernel).__name__ == "RBF" else f"{type(kernel).__name__} "
    values = sorted(lengths) if isinstance(lengths, tuple) else [lengths]
    ends = dict.fromkeys(f"{value:.3g}" for value in (values[0], values[-1]))
    return f"L-ARC {name}length scale {' to '.join(ends)}"
