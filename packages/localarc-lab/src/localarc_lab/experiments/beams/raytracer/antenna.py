"""Antennas: the transmitter's radiation pattern and the phases of its array."""

from __future__ import annotations

import numpy as np

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.materials import ComplexArray
from localarc_lab.experiments.beams.raytracer.scene import Transmitter

_BEAMWIDTH = np.radians(65.0)
_MAX_GAIN = 8.0
_MAX_ATTENUATION = 30.0


def radiate(transmitter: Transmitter, directions: FloatArray) -> FloatArray:
    """Return the field (n, 3) of one antenna along unit directions (n, 3), vertically polarised."""
    turn = rotation(transmitter)
    local = directions @ turn
    gain = np.ones(len(local))
    if transmitter.pattern == "tr38901":
        gain = 10 ** (_decibels(local) / 20)
    field: FloatArray = gain[:, None] * vertical(local) @ turn.T
    return field


def vertical(directions: FloatArray) -> FloatArray:
    """Return unit vectors of increasing zenith angle: normal to a direction, coplanar with z."""
    across = np.hypot(directions[:, 0], directions[:, 1])
    pole = across == 0
    safe = np.where(pole, 1.0, across)
    east = np.where(pole, 1.0, directions[:, 0] / safe)
    north = np.where(pole, 0.0, directions[:, 1] / safe)
    return np.stack([directions[:, 2] * east, directions[:, 2] * north, -across], axis=1)


def steering(transmitter: Transmitter, directions: FloatArray) -> ComplexArray:
    """Return phase factors (n, antennas) of a plane wave that leaves along each direction."""
    number = transmitter.antennas
    positions = (np.arange(number) - (number - 1) / 2) / 2
    row = rotation(transmitter)[:, 1]
    phase: ComplexArray = np.exp(2j * np.pi * np.outer(directions @ row, positions))
    return phase


def rotation(transmitter: Transmitter) -> FloatArray:
    """Return the rotation from the transmitter's axes (ahead, left, up) to the scene's."""
    turn, tilt = np.radians(transmitter.azimuth), np.radians(transmitter.downtilt)
    level = np.array(
        [[np.cos(turn), -np.sin(turn), 0.0], [np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]]
    )
    nod = np.array(
        [[np.cos(tilt), 0.0, np.sin(tilt)], [0.0, 1.0, 0.0], [-np.sin(tilt), 0.0, np.cos(tilt)]]
    )
    both: FloatArray = level @ nod
    return both


def _decibels(local: FloatArray) -> FloatArray:
    """The gain of 3GPP TR 38.901, table 7.3-1, along directions in the transmitter's axes."""
    zenith = np.arctan2(np.hypot(local[:, 0], local[:, 1]), local[:, 2])
    azimuth = np.arctan2(local[:, 1], local[:, 0])
    down = np.minimum(12 * ((zenith - np.pi / 2) / _BEAMWIDTH) ** 2, _MAX_ATTENUATION)
    aside = np.minimum(12 * (azimuth / _BEAMWIDTH) ** 2, _MAX_ATTENUATION)
    gain: FloatArray = _MAX_GAIN - np.minimum(down + aside, _MAX_ATTENUATION)
    return gain
