"""Layout: checks that flat arrays describe one monotone step function per round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from localarc import validation
from localarc.validation import LARGEST, FloatArray

if TYPE_CHECKING:
    from localarc.curves.curves import Curves


def checked_arrays(curves: Curves) -> dict[str, Any]:
    """Return the fields of curves as arrays of numbers, none of them masked."""
    names = ["breakpoints", "losses", *(n for n in ("sizes", "widths") if _given(curves, n))]
    checked: dict[str, Any] = {n: validation.floats(n, getattr(curves, n)) for n in names}
    validation.require_unmasked("offsets", curves.offsets)
    offsets = np.asarray(curves.offsets)
    if offsets.dtype.kind not in "iu":
        raise TypeError(f"offsets must be integers, got {validation.shown(curves.offsets)}.")
    checked["offsets"] = offsets.astype(np.int64, copy=False)
    shapes = {name: array.shape for name, array in checked.items() if array.ndim != 1}
    if shapes:
        raise ValueError(f"the arrays of curves must be vectors, got the shapes {shapes}.")
    hint = "It is the largest possible loss, e.g. 1.0."
    return checked | {"bound": validation.not_negative("bound", curves.bound, hint)}


def _given(curves: Curves, name: str) -> bool:
    return getattr(curves, name) is not None


def check_layout(curves: Curves) -> None:
    """Raise unless every array has the length that the offsets require."""
    offsets, n = curves.offsets, len(curves.breakpoints)
    fits = len(offsets) >= 1 and offsets[0] == 0 and offsets[-1] == n == len(curves.losses)
    if not fits or (np.diff(offsets) < 1).any():
        raise ValueError(
            f"offsets must increase from 0 to the number of entries, {n}, by at least 1 per round. "
            "Build curves with the functions of localarc.curves."
        )
    if curves.sizes is not None and len(curves.sizes) != n:
        raise ValueError(f"sizes must have one number per entry, got {len(curves.sizes)} for {n}.")
    if curves.widths is not None and len(curves.widths) != len(offsets) - 1:
        raise ValueError("widths must have one number per round.")


def check_steps(curves: Curves) -> None:
    """Raise, naming the first round, unless curves are monotone, bounded and finite."""
    breaks, losses, starts = curves.breakpoints, curves.losses, curves.offsets[:-1]
    inside = np.ones(len(breaks), dtype=bool)  # every entry but the first of its round
    inside[starts] = False
    _raise_if(curves, ~inside & (breaks != -np.inf), "must start at minus infinity")
    _raise_if(curves, inside & ~(np.abs(breaks) <= LARGEST), "has a score that is not finite")
    _raise_if(
        curves,
        ~((losses >= 0) & (losses <= curves.bound)),
        f"has a loss outside [0, {curves.bound}]",
    )
    _raise_if(curves, inside & _decreases(breaks), "has breakpoints that are not ascending")
    _raise_if(curves, inside & _decreases(-losses), "has a loss that increases with the threshold")
    if curves.sizes is not None:
        _raise_if(
            curves,
            inside & _decreases(curves.sizes),
            "has a size that decreases with the threshold",
        )


def _decreases(values: FloatArray) -> NDArray[np.bool_]:
    """Return where a value is smaller than the one before it."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.diff(values, prepend=values[:1]) < 0)


def _raise_if(curves: Curves, wrong: NDArray[np.bool_], what: str) -> None:
    """Raise for the first entry that is wrong, with its round."""
    if not wrong.any():
        return
    entry = int(np.argmax(wrong))
    t = int(np.searchsorted(curves.offsets, entry, side="right")) - 1
    raise ValueError(
        f"the curve of round {t} (counted from 0) {what}: breakpoint {curves.breakpoints[entry]}, "
        f"loss {curves.losses[entry]}. Losses must lie in [0, bound] and not increase as the set "
        "grows; pass bound= if they can be larger."
    )
