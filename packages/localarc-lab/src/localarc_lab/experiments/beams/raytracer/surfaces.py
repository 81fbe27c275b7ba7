"""Surfaces: the reflecting rectangles of a scene, each normal to one of the axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.materials import Material
from localarc_lab.experiments.beams.raytracer.scene import Scene


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The part of the plane x[axis] = `offset` between `lower` and `upper`, facing `side`.

    The corners are points in space whose coordinate along the axis is the offset.
    """

    axis: int
    offset: float
    side: int
    lower: FloatArray
    upper: FloatArray
    material: Material

    def faces(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which points (..., 3) are in front."""
        front: NDArray[np.bool_] = self.side * (points[..., self.axis] - self.offset) > 0
        return front

    def mirror(self, points: FloatArray) -> FloatArray:
        """Return the mirror images of points (..., 3)."""
        image = np.array(points)
        image[..., self.axis] = 2 * self.offset - image[..., self.axis]
        return image

    def contains(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which points (..., 3) of the plane belong to the surface."""
        between = (points >= self.lower) & (points <= self.upper)
        return np.asarray(between.all(axis=-1))

    def crossing(self, start: FloatArray, end: FloatArray) -> FloatArray:
        """Return where the lines from `start` to `end`, on opposite sides, cross the plane."""
        step = end - start
        share = (self.offset - start[..., self.axis]) / step[..., self.axis]
        points = start + share[..., None] * step
        points[..., self.axis] = self.offset  # without rounding, so that it is on the plane
        return points


def surfaces(scene: Scene) -> list[Surface]:
    """Return the ground and every face of every box that is visible from above the ground."""
    ground = np.array([-np.inf, -np.inf, scene.ground]), np.array([np.inf, np.inf, scene.ground])
    found = [Surface(2, scene.ground, 1, *ground, scene.ground_material)]
    for box in scene.boxes:
        for axis in range(3):
            for side, offset in ((-1, box.lower[axis]), (1, box.upper[axis])):
                if axis == 2 and offset <= scene.ground:
                    continue  # the box stands on it
                lower, upper = np.array(box.lower), np.array(box.upper)
                lower[axis] = upper[axis] = offset
                found.append(Surface(axis, offset, side, lower, upper, box.material))
    return found
