"""A scene: boxes on a ground, and a transmitter. Lengths are in metres, angles in degrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.materials import (
    CONCRETE,
    MEDIUM_DRY_GROUND,
    SPEED_OF_LIGHT,
    Material,
)

Point: TypeAlias = tuple[float, float, float]
Pattern: TypeAlias = Literal["tr38901", "isotropic"]


@dataclass(frozen=True, slots=True)
class Box:
    """A building: all points between the corners `lower` and `upper`, in metres."""

    lower: Point
    upper: Point
    material: Material = CONCRETE

    def __post_init__(self) -> None:
        lower, upper = _point("lower", self.lower), _point("upper", self.upper)
        if not all(low < high for low, high in zip(lower, upper, strict=True)):
            raise ValueError(
                f"A box must have a length, width and height above zero, got corners {lower} and "
                f"{upper}. Pass the smaller coordinate of each axis in lower."
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)


@dataclass(frozen=True, slots=True)
class Transmitter:
    """Antennas in a horizontal row, half a wavelength apart, around `position`.

    `azimuth` is the direction that they face, from the x axis (east) towards the y axis (north),
    `downtilt` the angle below the horizon. Antennas are counted from right to left, seen in that
    direction. `pattern` is the gain of each: 3GPP TR 38.901, with 8 dB in front, or
    isotropic.
    """

    position: Point
    azimuth: float = 90.0
    downtilt: float = 0.0
    antennas: int = 8
    frequency: float = 2.14e9
    pattern: Pattern = "tr38901"

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", _point("position", self.position))
        validation.finite("azimuth", self.azimuth, "It is in degrees, e.g. 90 for north.")
        validation.finite("downtilt", self.downtilt, "It is in degrees below the horizon, e.g. 10.")
        validation.integer("antennas", self.antennas, 1, "The paper has 8.")
        validation.positive("frequency", self.frequency, "It is in Hz, e.g. 2.14e9.")
        if self.pattern not in get_args(Pattern):
            raise ValueError(
                f"pattern must be one of {get_args(Pattern)}, got {self.pattern!r}. "
                "It is the gain of one antenna by direction."
            )

    @property
    def wavelength(self) -> float:
        """In metres."""
        return SPEED_OF_LIGHT / self.frequency


@dataclass(frozen=True, slots=True)
class Scene:
    """Boxes that do not overlap, the ground at z = `ground` below them, and a transmitter."""

    transmitter: Transmitter
    boxes: tuple[Box, ...] = ()
    ground: float = 0.0
    ground_material: Material = MEDIUM_DRY_GROUND

    def __post_init__(self) -> None:
        object.__setattr__(self, "boxes", tuple(self.boxes))
        validation.finite("ground", self.ground, "It is the height of the ground, e.g. 0.0.")
        for number, box in enumerate(self.boxes):
            if box.lower[2] < self.ground:
                raise ValueError(
                    f"Box {number} must not reach below the ground at {self.ground}, got "
                    f"{box.lower[2]}. Raise its lower corner."
                )
            for other in range(number):
                if _overlap(box, self.boxes[other]):
                    raise ValueError(
                        f"Boxes {other} and {number} must not overlap. Cut one of them back; "
                        "they may touch."
                    )
        if not outdoors(self, self.transmitter.position)[0]:
            raise ValueError(
                "The transmitter must be above the ground and in no box, got "
                f"{self.transmitter.position}. Move it, or the box around it."
            )


def outdoors(scene: Scene, positions: ArrayLike) -> NDArray[np.bool_]:
    """Return which of the (n, 3) positions are above the ground and neither in nor on a box."""
    points = validate_positions(positions)
    free = points[:, 2] > scene.ground
    for box in scene.boxes:
        free &= ((points < box.lower) | (points > box.upper)).any(axis=1)
    return free


def validate_positions(positions: ArrayLike) -> FloatArray:
    """Return positions as an (n, 3) array."""
    points = validation.numbers("positions", positions)
    if points.ndim == 1 and points.size == 3:
        points = points.reshape(1, 3)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(
            f"positions must have the shape (n, 3), x, y and z in metres, got {points.shape}. "
            "Add the height of the receivers as a third column."
        )
    return points


def _point(name: str, values: Point) -> Point:
    point = validation.numbers(name, values)
    if point.shape != (3,):
        raise ValueError(f"{name} must be three numbers, x, y and z in metres, got {values!r}.")
    return float(point[0]), float(point[1]), float(point[2])


def _overlap(one: Box, other: Box) -> bool:
    return all(
        max(one.lower[axis], other.lower[axis]) < min(one.upper[axis], other.upper[axis])
        for axis in range(3)
    )
