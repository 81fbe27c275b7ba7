"""Where figures are drawn, if matplotlib is installed; a report without it has no pictures."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTS_PER_INCH = 160
INSTALL = "Pictures require matplotlib: pip install 'localarc[plots]'"


class NoPicturesWarning(UserWarning):
    """Results were written without pictures, because matplotlib is not installed."""


def can_draw() -> bool:
    """Whether matplotlib is installed; if not, warn that pictures are left out."""
    if find_spec("matplotlib") is not None:
        return True
    warnings.warn(f"{INSTALL}. Everything else was written.", NoPicturesWarning, stacklevel=2)
    return False


def new_figure(width: float, height: float) -> Figure:
    """A figure of this size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(INSTALL) from error
    return Figure(figsize=(width, height), layout="constrained")


def save_picture(
    path: Path, size: tuple[float, float], draw: Callable[[Figure], object]
) -> list[Path]:
    """Write a picture if matplotlib is installed, and return the files that were written."""
    if not can_draw():
        return []
    figure = new_figure(*size)
    draw(figure)
    figure.savefig(path, dpi=_DOTS_PER_INCH)
    return [path]
