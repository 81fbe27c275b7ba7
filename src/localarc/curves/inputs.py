"""Curves as an argument: made by this package, and one for each input."""

from __future__ import annotations

from localarc.curves.curves import Curves
from localarc.validation import FloatArray


def require_curves(curves: Curves) -> None:
    """Raise unless these are curves."""
    if not isinstance(curves, Curves):
        raise TypeError(
            f"curves must be made by localarc.curves, got {type(curves).__name__}. "
            "For example miscoverage(scores)."
        )


def require_as_many(points: FloatArray, curves: Curves) -> None:
    """Raise unless there is one curve for each input."""
    if len(points) != len(curves):
        raise ValueError(
            f"X and curves must have the same number of rounds, got {len(points)} rows and "
            f"{len(curves)} curves."
        )
