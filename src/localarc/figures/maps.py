"""Maps: a value over an area, for several methods, side by side with one colour scale."""

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
_GAP = 0.05  # between two maps, as a fraction of the width of a map
_HEAD = 0.13  # for the name of a map, likewise
_HUGE = 1e9  # replaces infinity, which an image would leave white
_NAME: dict[str, Any] = {"color": INK, "fontsize": 7.2}


@dataclass(frozen=True)
class Ground:
    """What all maps of an area have in common.

    Parameters
    ----------
    area : ((west, east), (south, north))
        The area that the values cover.
    buildings : sequence of (west, south, east, north), optional
        Rectangles to draw on top.
    transmitter : (x, y), optional
        Position of a transmitter, inside the area or not.

    Examples
    --------
    >>> Ground(((0.0, 100.0), (0.0, 50.0)), transmitter=(50.0, -20.0)).borders()
    (0.0, -23.0, 100.0, 50.0)
    """

    area: tuple[tuple[float, float], tuple[float, float]]
    buildings: Sequence[tuple[float, float, float, float]] = ()
    transmitter: tuple[float, float] | None = None

    def borders(self) -> tuple[float, float, float, float]:
        """Return the west, south, east and north ends of the drawing.

        Returns
        -------
        tuple of float
            The ends of the area, extended to the transmitter.

        Examples
        --------
        >>> Ground(((0.0, 100.0), (0.0, 50.0))).borders()
        (0.0, 0.0, 100.0, 50.0)
        """
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
    """Draw one map per panel, with a common colour scale.

    Values below the scale are red, values above it have the colour of its upper end, and NaN is
    white.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    panels : mapping of str to array of float, shape (rows, columns)
        Values by name of the map; rows go from south to north.
    ground : Ground
        Area, buildings and transmitter.
    title, label : str
        Title of the figure, and label of the colour scale.
    limits : (float, float), optional
        Ends of the colour scale. Default: the smallest and the largest finite value.
    columns : int, default 3
        Number of maps side by side.
    colours : str, default "viridis"
        Name of a matplotlib colour map.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ground = Ground(((0.0, 2.0), (0.0, 1.0)))
    >>> axes = maps(Figure().subplots(), {"ARC": np.array([[0.1, 0.2]])}, ground, "Risk", "risk")
    >>> len(axes.get_images())
    1
    """
    if not panels:
        raise ValueError("panels must have at least one map.")
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
    """Draw one map, with its lower left end at `corner` if given.

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
    """Return the smallest and the largest finite value."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)


def colour_bar(axes: Axes, image: Any, label: str, below: bool = False) -> None:
    """Draw the colour scale below the maps, with a red end if values lie below it."""
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
