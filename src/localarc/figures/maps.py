"""Maps: one value over one area, for several methods, side by side on one colour scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.figures.frame import frame, plain
from localarc.figures.palette import FAINT, INK
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BUILDING = "#b4b8bf"
BELOW = "#cc3311"
TRANSMITTER = "#2ca02c"
_GAP = 0.05  # between two maps, as a share of a map's width
_HEAD = 0.13  # for a map's name, likewise
_HUGE = 1e9  # stands for infinity, which an image would leave white
_NAME: dict[str, Any] = {"color": INK, "fontsize": 7.2}


@dataclass(frozen=True)
class Ground:
    """What every map of one place has in common: the area, its buildings, a transmitter.

    `area` is what is coloured: the range of x and the range of y. A building is its west, south,
    east and north end.
    """

    area: tuple[tuple[float, float], tuple[float, float]]
    buildings: Sequence[tuple[float, float, float, float]] = ()
    transmitter: tuple[float, float] | None = None

    def borders(self) -> tuple[float, float, float, float]:
        """West, south, east and north end of all that is drawn."""
        (west, east), (south, north) = self.area
        if self.transmitter is None:
            return west, south, east, north
        x, y = self.transmitter
        margin = 0.03 * (east - west)
        return (
            min(west, x - margin),
            min(south, y - margin),
            max(east, x + margin),
            max(north, y + margin),
        )


def maps(
    axes: Axes,
    panels: Mapping[str, FloatArray],
    ground: Ground,
    title: str,
    label: str,
    limits: tuple[float, float] | None = None,
    columns: int = 3,
    colours: str = "viridis",
) -> Axes:
    """Each panel's values, rows of cells from the south, over the area; NaN is left white.

    All panels share one colour scale, by default from the lowest to the highest finite value of
    all. A value below it is red, one above it has the colour of the upper end.
    """
    if not panels:
        raise ValueError("panels must hold one map at least, by name.")
    scale = limits or _range(np.concatenate([panel.reshape(-1) for panel in panels.values()]))
    west, south, east, north = ground.borders()
    width, height = east - west, north - south
    right, down = (1.0 + _GAP) * width, height + _HEAD * width
    for number, (name, panel) in enumerate(panels.items()):
        row, column = divmod(number, columns)
        corner = column * right, -row * down
        image = draw_map(axes, panel, ground, scale, colours, corner)
        axes.text(corner[0], corner[1] + height + 0.02 * width, plain(name, 44), **_NAME)
    rows = -(-len(panels) // columns)
    axes.set_xlim(-0.01 * width, min(columns, len(panels)) * right - (_GAP - 0.01) * width)
    axes.set_ylim(-(rows - 1) * down - 0.01 * width, height + 0.8 * _HEAD * width)
    axes.set_aspect("equal")
    below = any((panel < scale[0]).any() for panel in panels.values())
    colour_bar(axes, image, label, below)
    frame(axes, title, "", "")
    axes.set_axis_off()
    return axes


def draw_map(
    axes: Axes,
    values: FloatArray,
    ground: Ground,
    scale: tuple[float, float],
    colours: str = "viridis",
    corner: tuple[float, float] | None = None,
) -> Any:
    """One map: cells, buildings, the transmitter; its borders start at `corner`, or where they are.

    Returns the image, for a colour bar.
    """
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    west, south, *_ = ground.borders()
    x, y = (0.0, 0.0) if corner is None else (corner[0] - west, corner[1] - south)
    (left, right), (bottom, top) = ground.area
    image = axes.imshow(
        np.where(np.isnan(values), np.nan, np.clip(values, -_HUGE, _HUGE)),
        cmap=colormaps[colours].with_extremes(under=BELOW),
        vmin=scale[0],
        vmax=scale[1],
        extent=(left + x, right + x, bottom + y, top + y),
        origin="lower",
        interpolation="nearest",
    )
    for from_x, from_y, to_x, to_y in ground.buildings:
        box = Rectangle(
            (from_x + x, from_y + y), to_x - from_x, to_y - from_y, color=BUILDING, lw=0
        )
        axes.add_patch(box)
    outline = Rectangle((left + x, bottom + y), right - left, top - bottom, fill=False, ec=FAINT)
    axes.add_patch(outline)
    if ground.transmitter is not None:
        at = ground.transmitter[0] + x, ground.transmitter[1] + y
        axes.plot(*at, "o", color=TRANSMITTER, markersize=6, markeredgecolor=INK, mew=0.6)
    return image


def _range(values: FloatArray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)


def colour_bar(axes: Axes, image: Any, label: str, below: bool = False) -> None:
    """The scale under the maps, with a red end where there are values below it."""
    bar = axes.figure.colorbar(
        image,
        ax=axes,
        orientation="horizontal",
        shrink=0.6,
        aspect=40,
        pad=0.02,
        extend="min" if below else "neither",
    )
    bar.set_label(label, color=INK, fontsize=9)
    bar.ax.tick_params(color=FAINT, labelcolor=INK, labelsize=8)
    bar.outline.set_visible(False)
