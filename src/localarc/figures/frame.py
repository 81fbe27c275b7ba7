"""The frame of every figure: title, axis labels, spines and legend."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.figures.palette import FAINT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PER_INCH = 10.0  # characters of a title

TITLE: dict[str, Any] = {"color": INK, "fontsize": 11, "fontweight": "bold"}


def frame(axes: Axes, title: str, x: str, y: str) -> Axes:
    """Set the title, in lines that fit, and the axis labels; remove the upper and right spines."""
    axes.set_title(fill(plain(title, 160), _room(axes)), TITLE, loc="left", pad=8)
    axes.set_xlabel(plain(x, 48), color=INK)
    axes.set_ylabel(plain(y, 40), color=INK)
    axes.tick_params(color=FAINT, labelcolor=INK)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(FAINT)
    axes.patch.set_alpha(0.0)
    return axes


def _room(axes: Axes) -> int:
    """Return how many characters of a title fit above the axes."""
    spec, figure = axes.get_subplotspec(), axes.get_figure(root=True)
    share = 1.0
    if spec is not None:
        widths = np.asarray(spec.get_gridspec().get_width_ratios(), float)
        share = widths[spec.colspan.start : spec.colspan.stop].sum() / widths.sum()
    return max(20, int(_PER_INCH * share * (figure.get_figwidth() if figure else 6.0) - 6))


def target_line(axes: Axes, alpha: float) -> None:
    """Draw the target as a dashed horizontal line."""
    axes.axhline(alpha, color=INK, linestyle="--", linewidth=1.2, label=f"target {alpha:g}")


def legend(axes: Axes) -> Axes:
    """Put the legend between the title and the axes, where it covers no data."""
    handles, labels = axes.get_legend_handles_labels()
    columns = len(labels) if len(labels) <= 4 else 3
    rows = -(-len(labels) // columns)
    axes.set_title(axes.get_title(loc="left"), TITLE, loc="left", pad=8 + 15 * rows)
    axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(-0.02, 0.98),
        ncols=columns,
        frameon=False,
        labelcolor=INK,
        fontsize=9,
        handlelength=1.4,
        columnspacing=1.2,
    )
    return axes


def plain(text: object, longest: int = 24) -> str:
    """Return a label for a name from the data: shortened, with dollar signs escaped."""
    return short(text, longest).replace("$", r"\$")


def short(text: object, longest: int = 24) -> str:
    """Return a name from the data, shortened, for a title; `frame` escapes its dollar signs."""
    name = " ".join(str(text).split())
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
