"""Layouts: the city of the experiment, and random street grids."""

from __future__ import annotations

from math import atan2, degrees

import numpy as np

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.scene import Box, Scene, Transmitter, outdoors

AREA = ((-70.0, 70.0), (-50.0, 50.0))
"""The area of receivers: from west to east, from south to north, in metres."""

RECEIVER_HEIGHT = 1.0

_HEIGHT = 30.0
_SOUTH = 10.0

# West, east, south, north, height. Buildings are low in the south and tall in the north, where
# walls reflect into the shadows: seven of eight outdoor positions have a path.
_CITY = (
    (-62.0, -50.0, -34.0, -26.0, 10.0),
    (-20.0, -4.0, -32.0, -20.0, 8.0),
    (10.0, 24.0, -32.0, -20.0, 9.0),
    (52.0, 66.0, -34.0, -22.0, 10.0),
    (-62.0, -46.0, -4.0, 8.0, 13.0),
    (-34.0, -20.0, -6.0, 2.0, 11.0),
    (4.0, 16.0, -8.0, 4.0, 10.0),
    (48.0, 64.0, 2.0, 12.0, 8.0),
    (-60.0, -28.0, 30.0, 42.0, 23.0),
    (-4.0, 20.0, 34.0, 44.0, 18.0),
    (32.0, 56.0, 36.0, 46.0, 26.0),
)


def city() -> Scene:
    """Return a layout similar to the paper's: buildings and streets, one transmitter in the south.

    The transmitter is 30 m high, 10 m south of the 140 m x 100 m area of receivers, and points at
    the middle of that area. The paper does not list its buildings: these are our own.
    """
    boxes = (
        Box((west, south, 0.0), (east, north, height)) for west, east, south, north, height in _CITY
    )
    return Scene(_transmitter(), tuple(boxes))


def urban(seed: int, columns: int = 4, rows: int = 3, density: float = 0.9) -> Scene:
    """Return a random street grid over the same area, with at most one building per cell.

    A cell has a building with probability `density`. A building covers between a third and three
    fifths of the length and width of its cell, anywhere in it, and is 6 to 16 m high.
    """
    validation.integer("seed", seed, 0, "It fixes the buildings.")
    columns = validation.integer(
        "columns", columns, 1, "It is the number of cells from west to east."
    )
    rows = validation.integer("rows", rows, 1, "It is the number of cells from south to north.")
    if not 0 <= validation.finite("density", density, "It is a probability.") <= 1:
        raise ValueError(f"density must be between 0 and 1, got {density}. It is a probability.")
    random = np.random.default_rng(seed)
    size = np.array([(AREA[0][1] - AREA[0][0]) / columns, (AREA[1][1] - AREA[1][0]) / rows])
    corner = np.array([AREA[0][0], AREA[1][0]])
    boxes = []
    for column in range(columns):
        for row in range(rows):
            built, share, place = random.random(), random.uniform(1 / 3, 3 / 5, 2), random.random(2)
            height = random.uniform(6.0, 16.0)
            low = corner + size * ([column, row] + (1 - share) * place)
            if built < density:
                high = low + size * share
                boxes.append(Box((low[0], low[1], 0.0), (high[0], high[1], height)))
    return Scene(_transmitter(), tuple(boxes))


def draw_receivers(scene: Scene, number: int, random: np.random.Generator) -> FloatArray:
    """Draw receivers (number, 3), uniform over the outdoor area, 1 m above the ground."""
    validation.integer("number", number, 0, "It is the number of receivers.")
    found = np.empty((0, 3))
    lower, upper = np.transpose(AREA)
    for _ in range(1000):
        if len(found) >= number:
            return found[:number]
        points = np.full((max(number, 100), 3), scene.ground + RECEIVER_HEIGHT)
        points[:, :2] = random.uniform(lower, upper, (len(points), 2))
        found = np.concatenate([found, points[outdoors(scene, points)]])
    raise ValueError("The scene has no outdoor space for receivers. Use smaller boxes.")


def _transmitter() -> Transmitter:
    south = AREA[1][0] - _SOUTH
    middle = sum(AREA[1]) / 2
    tilt = degrees(atan2(_HEIGHT - RECEIVER_HEIGHT, middle - south))
    return Transmitter((sum(AREA[0]) / 2, south, _HEIGHT), downtilt=tilt)
