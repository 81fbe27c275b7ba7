"""Occlusion: which straight lines a box blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from localarc.checks import FloatArray
from localarc.experiments.beams.channels.scene import Box

SKIN = 1e-6
"""In metres. A line may touch a box, as every reflected one does, but not run deeper inside."""


def clear(boxes: Sequence[Box], starts: FloatArray, ends: FloatArray) -> NDArray[np.bool_]:
    """Which segments from `starts` to `ends`, both (n, 3), pass through no box."""
    free = np.ones(len(starts), dtype=bool)
    for box in boxes:
        free &= ~_blocks(box, starts, ends)
    return free


def _blocks(box: Box, starts: FloatArray, ends: FloatArray) -> NDArray[np.bool_]:
    """A line is inside a box while it is between all three pairs of opposite faces."""
    enters, leaves = np.zeros(len(starts)), np.ones(len(starts))
    for axis in range(3):
        start, step = starts[:, axis], ends[:, axis] - starts[:, axis]
        low, high = box.lower[axis] + SKIN, box.upper[axis] - SKIN
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (low - start) / step, (high - start) / step
        first, last = np.minimum(one, other), np.maximum(one, other)
        # A line along the faces is between them always or never: infinities say so, except 0 / 0,
        # on a face of the skin itself, which `fmax` and `fmin` pass over.
        enters, leaves = np.fmax(enters, first), np.fmin(leaves, last)
    blocked: NDArray[np.bool_] = enters < leaves
    return blocked
