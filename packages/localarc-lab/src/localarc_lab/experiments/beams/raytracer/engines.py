"""Channels of a scene, with one of two engines."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.field import amplitudes
from localarc_lab.experiments.beams.raytracer.image_method import chains, paths
from localarc_lab.experiments.beams.raytracer.materials import ComplexArray
from localarc_lab.experiments.beams.raytracer.scene import Scene, outdoors, validate_positions

Engine: TypeAlias = Literal["images", "sionna"]

_CHUNK = 100_000
"""Receivers times boxes that are processed together, which bounds the memory."""


def trace(scene: Scene, receivers: ArrayLike, engine: Engine = "images") -> ComplexArray:
    """Return the channel (n, antennas) from every antenna to receivers: complex amplitudes.

    The channel is narrow-band: the sum, over line of sight and reflections up to order 2, of
    `wavelength / (4 pi length) * exp(-2 pi i length / wavelength)` times the gains of the antennas
    and the coefficients of the surfaces. Its squared modulus is received over transmitted power.
    The transmitter's antennas are vertically polarised in their own axes; receivers measure the
    vertical component of the field, with gain 1 from all directions. Waves are plane across the
    array. There is no diffraction, scattering or transmission through walls: a receiver without any
    path has the channel 0.

    Parameters
    ----------
    scene : Scene
        Boxes, ground and transmitter.
    receivers : array of shape (n, 3)
        Outdoor positions, in metres.
    engine : {"images", "sionna"}, default "images"
        `"images"`, our own tracer, or `"sionna"`, Sionna RT (the extra `beams`), which finds
        its paths with random rays and computes in single precision.

    Examples
    --------
    >>> from localarc_lab.experiments.beams.raytracer import city
    >>> abs(trace(city(), [[0.0, 0.0, 1.0]])).shape
    (1, 8)
    """
    if engine not in _ENGINES:
        raise ValueError(
            f"engine must be one of {tuple(_ENGINES)}, got {engine!r}. "
            "images requires no extra package."
        )
    points = validate_positions(receivers)
    indoors = np.flatnonzero(~outdoors(scene, points))
    if indoors.size:
        raise ValueError(
            f"receivers must be outdoors, got number {indoors[0]} at {points[indoors[0]].tolist()} "
            "in a box or below the ground. Select receivers with outdoors(scene, receivers)."
        )
    if (points == scene.transmitter.position).all(axis=1).any():
        raise ValueError(
            "receivers must not be at the position of the transmitter, "
            f"{scene.transmitter.position}."
        )
    if not len(points):
        return np.zeros((0, scene.transmitter.antennas), dtype=np.complex128)
    return _ENGINES[engine](scene, points)


def _images(scene: Scene, receivers: FloatArray) -> ComplexArray:
    channel = np.zeros((len(receivers), scene.transmitter.antennas), dtype=np.complex128)
    routes = chains(scene, receivers)
    size = max(1, _CHUNK // max(1, len(scene.boxes)))
    for start in range(0, len(receivers), size):
        part = slice(start, start + size)
        for found in paths(scene, receivers[part], routes):
            channel[part][found.receivers] += amplitudes(scene.transmitter, found)
    return channel


def _sionna(scene: Scene, receivers: FloatArray) -> ComplexArray:
    from localarc_lab.experiments.beams.raytracer import sionna_rt

    return sionna_rt.trace(scene, receivers)


_ENGINES = {"images": _images, "sionna": _sionna}
