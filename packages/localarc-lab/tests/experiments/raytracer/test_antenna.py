"""What the transmitter sends where."""

from dataclasses import replace

import numpy as np
import pytest

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer.antenna import radiate, steering
from localarc_lab.experiments.beams.raytracer.scene import Transmitter

NORTH = Transmitter((0.0, 0.0, 10.0), azimuth=90.0)


def towards(azimuth: float, elevation: float = 0.0) -> FloatArray:
    turn, rise = np.radians([azimuth, elevation])
    flat = np.cos(rise)
    return np.array([[flat * np.cos(turn), flat * np.sin(turn), np.sin(rise)]])


def decibels(transmitter: Transmitter, direction: FloatArray) -> float:
    return float(20 * np.log10(np.linalg.norm(radiate(transmitter, direction))))


@pytest.mark.parametrize(
    ("azimuth", "elevation", "gain"),
    [
        (90.0, 0.0, 8.0),  # ahead
        (90.0 - 32.5, 0.0, 5.0),  # half the power at half the beam width
        (90.0, -32.5, 5.0),
        (-90.0, 0.0, -22.0),  # behind, 30 dB down
        (90.0 + 65.0, 65.0, -16.0),  # 12 dB for each of the two angles
    ],
)
def test_the_element_has_the_gain_of_the_3gpp_report(
    azimuth: float, elevation: float, gain: float
) -> None:
    assert decibels(NORTH, towards(azimuth, elevation)) == pytest.approx(gain)


def test_an_isotropic_element_has_the_gain_one_everywhere() -> None:
    random = np.random.default_rng(0)
    directions = random.normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    fields = radiate(replace(NORTH, pattern="isotropic"), directions)
    np.testing.assert_allclose(np.linalg.norm(fields, axis=1), 1.0)
    np.testing.assert_allclose((fields * directions).sum(axis=1), 0.0, atol=1e-15)


def test_the_gain_follows_azimuth_and_downtilt() -> None:
    tilted = replace(NORTH, azimuth=20.0, downtilt=30.0)
    assert decibels(tilted, towards(20.0, -30.0)) == pytest.approx(8.0)
    assert decibels(tilted, towards(20.0, 0.0)) == pytest.approx(8 - 12 * (30 / 65) ** 2)


def test_on_the_horizon_the_field_is_vertical() -> None:
    field = radiate(NORTH, towards(100.0))[0]
    np.testing.assert_allclose(field[:2], 0.0, atol=1e-15)
    assert field[2] < 0  # towards growing zenith angle, that is downwards


def test_straight_up_and_down_the_field_is_finite() -> None:
    poles = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    fields = radiate(replace(NORTH, pattern="isotropic"), poles)
    np.testing.assert_allclose(np.linalg.norm(fields, axis=1), 1.0)


def test_antennas_are_in_phase_ahead_and_half_a_turn_apart_along_the_row() -> None:
    np.testing.assert_allclose(steering(NORTH, towards(90.0)), np.ones((1, 8)), atol=1e-14)
    along = steering(NORTH, towards(180.0))[0]  # west is on the left of north
    np.testing.assert_allclose(along[1:] / along[:-1], -1.0)
    aside = steering(NORTH, towards(120.0))[0]  # the wave leaves the left antennas early
    np.testing.assert_allclose(aside[1:] / aside[:-1], np.exp(1j * np.pi * np.sin(np.pi / 6)))
