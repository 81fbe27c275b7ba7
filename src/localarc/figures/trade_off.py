"""The trade-off of tuning: how large sets are, and how high the risk is where it is worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from localarc._tune import Tuning
from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.larc import LARC
from localarc.figures.frame import frame, legend, target_line
from localarc.figures.palette import INK, colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SMALLEST, _LARGEST = 5.0, 11.0  # dots, in points


def trade_off(axes: Axes, tuning: Tuning) -> Axes:
    """Each candidate by mean set size and risk of its worst neighbourhood, with standard errors.

    Candidates that differ in their rate alone share a colour and a line, and their dots grow with
    the rate. The chosen one has a ring; how it did in the rounds held out is written below, since
    set sizes at another time cannot be compared.
    """
    names = [family(each) for each in tuning.candidates]
    steps = [_first_step(each) for each in tuning.candidates]
    colour = _colours(list(dict.fromkeys(names)))
    for name in dict.fromkeys(names):
        mine = sorted((i for i in range(len(names)) if names[i] == name), key=lambda i: steps[i])
        sizes, risks = np.array([_place(tuning, i) for i in mine]).T
        errors = [tuning.evaluations[i].worst_error for i in mine]
        axes.errorbar(sizes, risks, errors, color=colour[name], alpha=0.5, lw=1.0)
        for i, dot in zip(mine, _dots([steps[i] for i in mine], steps), strict=True):
            label = name if i == mine[-1] else None
            axes.plot(*_place(tuning, i), "o", color=colour[name], ms=dot, label=label)
    place = _place(tuning, tuning.chosen)
    axes.plot(*place, "o", ms=18, mfc="none", mec=INK, mew=1.6, label="chosen")
    target_line(axes, tuning.evaluations[0].alpha)
    axes.set_ylim(bottom=0.0)
    axes.text(
        0.0, -0.17, _key(tuning, steps), transform=axes.transAxes, color=INK, va="top", fontsize=9
    )
    title = f"Candidates over the first {tuning.evaluations[0].rounds:,} rounds"
    return legend(frame(axes, title, "mean set size", "risk in the worst neighbourhood"))


def _place(tuning: Tuning, i: int) -> tuple[float, float]:
    return tuning.evaluations[i].size, tuning.evaluations[i].worst


def _dots(mine: Sequence[float], all_steps: Sequence[float]) -> list[float]:
    """The size of each dot, by the rank of its rate."""
    ranks = sorted(set(all_steps))
    span = max(len(ranks) - 1, 1)
    return [_SMALLEST + (_LARGEST - _SMALLEST) * ranks.index(step) / span for step in mine]


def _colours(names: list[str]) -> dict[str, str]:
    """Ours are fixed; variants of L-ARC go from light to dark in the order of the candidates."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    variants = [name for name in names if name.startswith("L-ARC ")]
    shades = colormaps["Blues"](np.linspace(0.4, 1.0, max(len(variants), 2)))
    fixed = colours(name for name in names if name not in variants)
    return fixed | {name: to_hex(shade) for name, shade in zip(variants, shades, strict=False)}


def _key(tuning: Tuning, steps: Sequence[float]) -> str:
    rates = ", ".join(f"{step:g}" for step in sorted(set(steps)))
    first = f"Dots grow with the rate: {rates}. Bars are one standard error."
    judged = tuning.held_out
    if judged is None:
        return f"{first}\nNothing was held out: the chosen one is not judged here."
    return (
        f"{first}\nThe chosen one in the last {judged.rounds:,} rounds, held out:\n"
        f"worst neighbourhood {judged.worst:.3f} ± {judged.worst_error:.3f}, "
        f"risk {judged.risk:.3f}, mean size {judged.size:.3g}."
    )


def _first_step(candidate: BaseCalibrator) -> float:
    return candidate.settings.rate(1) if isinstance(candidate, AdaptiveCalibrator) else 1.0


def family(candidate: BaseCalibrator) -> str:
    """What candidates have in common that differ in their rate alone."""
    if not isinstance(candidate, LARC):
        return type(candidate).__name__
    kernel = candidate.kernel
    length_scale = getattr(kernel, "length_scale", None)
    if not isinstance(length_scale, float):
        return f"L-ARC {kernel!r}"
    name = "" if type(kernel).__name__ == "RBF" else f"{type(kernel).__name__} "
    return f"L-ARC {name}l={length_scale:g}"
