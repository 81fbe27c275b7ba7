"""Occlusion: which line segments a box blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.scene import Box

SKIN = 1e-6
"""In metres. A line may touch a box, as every reflected one does, but not go deeper."""


def clear(boxes: Sequence[Box], starts: FloatArray, ends: FloatArray) -> NDArray[np.bool_]:
    """Return which segments from `starts` to `ends`, both (n, 3), pass through no box.

    A line is inside a box while it is between all three pairs of opposite faces.
    """
    lower = np.array([box.lower for box in boxes]).reshape(-1, 3, 1) + SKIN
    upper = np.array([box.upper for box in boxes]).reshape(-1, 3, 1) - SKIN
    enters, leaves = np.zeros((len(boxes), len(starts))), np.ones((len(boxes), len(starts)))
    for axis in range(3):
        start, step = starts[:, axis], ends[:, axis] - starts[:, axis]
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (lower[:, axis] - start) / step, (upper[:, axis] - start) / step
        # A line parallel to the faces is between them always or never: the infinities express that,
        # except 0 / 0, exactly on a face, which `fmax` and `fmin` ignore.
        enters = np.fmax(enters, np.minimum(low, high))
        leaves = np.fmin(leaves, np.maximum(low, high))
    return np.asarray((enters >= leaves).all(axis=0))
