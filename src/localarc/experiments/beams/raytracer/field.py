"""The field: what arrives over a path, as a vector that every reflection turns and weakens."""

from __future__ import annotations

import numpy as np

from localarc.experiments.beams.raytracer.antenna import radiated, steering, vertical
from localarc.experiments.beams.raytracer.image_method import Paths
from localarc.experiments.beams.raytracer.materials import ComplexArray, reflection
from localarc.experiments.beams.raytracer.scene import Transmitter
from localarc.experiments.beams.raytracer.surfaces import Surface
from localarc.validation import FloatArray


def amplitudes(transmitter: Transmitter, found: Paths) -> ComplexArray:
    """What each path brings to its receiver from every antenna: (n, antennas)."""
    steps = np.diff(found.corners, axis=0)
    lengths = np.sqrt((steps**2).sum(axis=-1))
    directions = steps / lengths[..., None]
    field = radiated(transmitter, directions[0]).astype(np.complex128)
    for surface, before, after in zip(found.chain, directions[:-1], directions[1:], strict=True):
        field = _reflected(field, surface, before, after, transmitter.frequency)
    received = (field * vertical(directions[-1])).sum(axis=-1)
    turns = lengths.sum(axis=0) / transmitter.wavelength
    spread = np.exp(-2j * np.pi * turns) / (4 * np.pi * turns)
    amplitude: ComplexArray = (received * spread)[:, None] * steering(transmitter, directions[0])
    return amplitude


def _reflected(
    field: ComplexArray,
    surface: Surface,
    before: FloatArray,
    after: FloatArray,
    frequency: float,
) -> ComplexArray:
    """Split the field into its parts across and in the plane of incidence, and send each back."""
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
    """Unit vectors across the plane of incidence; any across the ray where it hits head-on."""
    across = np.cross(directions, normal)
    length = np.sqrt((across**2).sum(axis=-1, keepdims=True))
    beside = np.roll(normal, 1)
    return np.where(length > 1e-12, across / np.where(length > 0, length, 1.0), beside)
