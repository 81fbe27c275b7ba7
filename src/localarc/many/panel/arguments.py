"""The arguments of a panel, validated before anything changes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.curves import Curves
from localarc.curves.inputs import require_curves
from localarc.many.panel.keys import Key
from localarc.validation import FloatArray


def one_per_key(points: FloatArray, count: int) -> FloatArray:
    """The inputs; raises unless there is one for each of that many keys."""
    if len(points) != count:
        raise ValueError(f"X must have one input per key, got {len(points)} for {count} keys.")
    return points


def checked_losses(losses: ArrayLike, keys: list[Key], bound: float) -> FloatArray:
    """One loss per key, each between 0 and the bound."""
    numbers = validation.numbers("losses", losses)
    if numbers.shape != (len(keys),):
        raise ValueError(
            f"losses must have one number per key, got shape {numbers.shape} for {len(keys)} keys."
        )
    wrong = (numbers < 0.0) | (numbers > bound)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"losses must lie between 0 and the loss bound {bound}, got {numbers[i]} at position "
            f"{i}, key {keys[i]!r}. Rescale the losses, or set loss_bound."
        )
    return numbers


def check_curves(curves: Curves, keys: list[Key], bound: float) -> None:
    """Raise unless there is one curve per key, with losses up to the bound."""
    require_curves(curves)
    if len(curves) != len(keys):
        raise ValueError(
            f"curves must have one entry per key, got {len(curves)} for {len(keys)} keys."
        )
    if curves.bound > bound:
        raise ValueError(
            f"the curves have losses up to {curves.bound}, the panel expects at most {bound}. "
            f"Make its prototype with loss_bound={curves.bound}."
        )
