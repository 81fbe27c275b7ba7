"""The field along a path: a vector that every reflection rotates and attenuates."""

from __future__ import annotations

import numpy as np

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.antenna import radiate, steering, vertical
from localarc_lab.experiments.beams.raytracer.image_method import Paths
from localarc_lab.experiments.beams.raytracer.materials import ComplexArray, reflection
from localarc_lab.experiments.beams.raytracer.scene import Transmitter
from localarc_lab.experiments.beams.raytracer.surfaces import Surface


def amplitudes(transmitter: Transmitter, found: Paths) -> ComplexArray:
    """Return the amplitude of each path at its receiver, from every antenna: (n, antennas)."""
    steps = np.diff(found.corners, axis=0)
    lengths = np.sqrt((steps**2).sum(axis=-1))
    directions = steps / lengths[..., None]
    field = radiate(transmitter, directions[0]).astype(np.complex128)
    for surface, before, after in zip(found.chain, directions[:-1], directions[1:], strict=True):
        field = _reflect(field, surface, before, after, transmitter.frequency)
    received = (field * vertical(directions[-1])).sum(axis=-1)
    turns = lengths.sum(axis=0) / transmitter.wavelength
    spread = np.exp(-2j * np.pi * turns) / (4 * np.pi * turns)
    amplitude: ComplexArray = (received * spread)[:, None] * steering(transmitter, directions[0])
    return amplitude


def _reflect(
    field: ComplexArray,
    surface: Surface,
    before: FloatArray,
    after: FloatArray,
    frequency: float,
) -> ComplexArray:
    """Reflect the field's components normal to and in the plane of incidence (TE and TM)."""
    normal = np.zeros(3)
    normal[surface.axis] = 1.0
    across = _across(before, normal)
    cosine = np.abs(before[:, surface.axis])
    te, tm = reflection(surface.material, cosine, frequency)
    te_part = te * (field * across).sum(axis=-1)
    tm_part = tm * (field * np.cross(across, before)).sum(axis=-1)
    sent: ComplexArray = te_part[:, None] * across + tm_part[:, None] * np.cross(across, after)
    return sent


def _across(directions: FloatArray, normal: FloatArray) -> FloatArray:
    """Unit vectors normal to the plane of incidence; at normal incidence, any normal to the ray."""
    across = np.cross(directions, normal)
    length = np.sqrt((across**2).sum(axis=-1, keepdims=True))
    fallback = np.roll(normal, 1)
    return np.where(length > 1e-12, across / np.where(length > 0, length, 1.0), fallback)
