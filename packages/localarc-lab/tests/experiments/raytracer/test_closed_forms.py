"""Channels that can be written down: free space, two rays, a corner, a shadow."""

from dataclasses import replace

import numpy as np
import pytest

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer import (
    Box,
    Material,
    Scene,
    Transmitter,
    city,
    draw_receivers,
    trace,
)
from localarc_lab.experiments.beams.raytracer.image_method import chains, paths
from localarc_lab.experiments.beams.raytracer.materials import METAL, reflection

AIR = Material("air", 1.0)
"""Reflects nothing: a ground or a wall of it is only an obstacle."""

MAST = Transmitter((0.0, 0.0, 30.0), azimuth=0.0, antennas=1, pattern="isotropic")


def wave(length: float | FloatArray) -> np.complex128:
    turns = np.asarray(length) / MAST.wavelength
    return np.complex128(np.exp(-2j * np.pi * turns) / (4 * np.pi * turns))


def test_in_free_space_power_falls_as_friis_says() -> None:
    sender = replace(MAST, pattern="tr38901")
    receivers = np.array([[10.0, 0.0, 30.0], [20.0, 0.0, 30.0], [1000.0, 0.0, 30.0]])
    power = np.abs(trace(Scene(sender, ground_material=AIR), receivers)[:, 0]) ** 2
    gain = 10**0.8
    expected = gain * (sender.wavelength / (4 * np.pi * receivers[:, 0])) ** 2
    np.testing.assert_allclose(power, expected, rtol=1e-12)


def test_in_free_space_the_row_of_antennas_sees_a_plane_wave() -> None:
    sender = replace(MAST, antennas=8)
    channel = trace(Scene(sender, ground_material=AIR), [[30.0, 40.0, 30.0]])[0]
    np.testing.assert_allclose(channel[1:] / channel[:-1], np.exp(1j * np.pi * 0.8))
    np.testing.assert_allclose(np.abs(channel), abs(wave(50.0)))


@pytest.mark.parametrize("distance", [5.0, 37.0, 400.0])
def test_over_flat_ground_two_rays_add_up(distance: float) -> None:
    ground = Material("earth", 15.0, c=0.1, thickness=30.0)
    direct, bounced = np.hypot(distance, 30 - 1.5), np.hypot(distance, 30 + 1.5)
    cosine = (30 + 1.5) / bounced
    root = np.sqrt(ground.permittivity(MAST.frequency) - (1 - cosine**2))
    index = ground.permittivity(MAST.frequency) * cosine
    fresnel = (index - root) / (index + root)  # of the field in the plane of incidence
    channel = trace(Scene(MAST, ground_material=ground), [[distance, 0.0, 1.5]])[0, 0]
    # Far above and below the horizon, both ends still see the whole field.
    np.testing.assert_allclose(channel, wave(direct) + fresnel * wave(bounced), rtol=1e-10)


def test_a_corner_reflects_twice() -> None:
    west = Box((-10.0, -10.0, 0.0), (0.0, 200.0, 50.0), METAL)
    south = Box((0.0, -10.0, 0.0), (200.0, 0.0, 50.0), METAL)
    sender = replace(MAST, position=(20.0, 10.0, 20.0))
    scene = Scene(sender, (west, south), ground_material=AIR)
    here, there = np.array([20.0, 10.0]), np.array([30.0, 40.0])
    expected = wave(np.hypot(*(there - here)))
    for flip in ([-1, 1], [1, -1], [-1, -1]):
        step = there - flip * here
        length = np.hypot(*step)
        # All is level, so the vertical field is across every plane of incidence.
        over = [
            reflection(METAL, np.abs(step[[axis]]) / length, sender.frequency)[0][0]
            for axis in range(2)
            if flip[axis] < 0
        ]
        expected = expected + np.prod(over) * wave(length)
    np.testing.assert_allclose(trace(scene, [[*there, 20.0]])[0, 0], expected, rtol=1e-10)


def test_a_path_into_the_very_edge_of_a_corner_is_no_path() -> None:
    wall = Box((-10.0, -100.0, 0.0), (0.0, 100.0, 50.0), METAL)
    scene = Scene(replace(MAST, position=(10.1, 0.0, 10.1)), (wall,))
    away = np.linspace(0.3, 49.7, 200)
    receivers = np.stack([away, np.zeros(200), away], axis=1)
    orders = {len(found.chain) for found in paths(scene, receivers, chains(scene, receivers))}
    assert orders == {0, 1}
    assert np.isfinite(trace(scene, receivers)).all()


def test_a_shadow_ends_where_the_roof_no_longer_hides_the_transmitter() -> None:
    # From 30 m high, over the far edge of a 20 m roof 50 m away, down to 1 m: 145 m away.
    house = Box((40.0, -5.0, 0.0), (50.0, 5.0, 20.0), AIR)
    scene = Scene(MAST, (house,), ground_material=AIR)
    lit = trace(scene, [[144.99, 0.0, 1.0], [145.01, 0.0, 1.0], [30.0, 0.0, 1.0]])[:, 0] != 0
    assert lit.tolist() == [False, True, True]


def test_a_shadow_is_as_wide_as_its_wall() -> None:
    house = Box((40.0, -5.0, 0.0), (50.0, 5.0, 29.0), AIR)
    scene = Scene(MAST, (house,), ground_material=AIR)
    # Seen from the mast, the near corners of the house are at 5 / 40.
    places = [[80.0, side * y, 1.0] for side in (-1, 1) for y in (9.99, 10.01)]
    assert (trace(scene, places)[:, 0] != 0).tolist() == [False, True, False, True]


def test_a_wall_also_hides_what_the_ground_reflects() -> None:
    sender = replace(MAST, position=(0.0, 0.0, 2.0))
    place = [[60.0, 0.0, 2.0]]  # its ray bounces at 30 m, and is 0.67 m high again at 40 m
    length = np.hypot(60.0, 4.0)
    tm = reflection(METAL, np.array([4.0 / length]), MAST.frequency)[1][0]
    both = wave(60.0) + tm * wave(length)
    for height, expected in ((0.6, both), (0.7, wave(60.0))):
        step = Box((40.0, -5.0, 0.0), (40.1, 5.0, height), AIR)
        channel = trace(Scene(sender, (step,), ground_material=METAL), place)[0, 0]
        np.testing.assert_allclose(channel, expected, rtol=1e-10)


def test_a_floating_box_reflects_from_below() -> None:
    slab = Box((-50.0, -50.0, 40.0), (50.0, 50.0, 41.0), METAL)
    channel = trace(Scene(MAST, (slab,), ground_material=AIR), [[40.0, 0.0, 30.0]])[0, 0]
    length = np.hypot(40.0, 20.0)
    tm = reflection(METAL, np.array([20.0 / length]), MAST.frequency)[1][0]
    np.testing.assert_allclose(channel, wave(40.0) + tm * wave(length), rtol=1e-10)


def test_a_receiver_without_any_path_has_the_channel_zero() -> None:
    cellar = Box((40.0, -500.0, 0.0), (50.0, 500.0, 29.9))
    channel = trace(Scene(replace(MAST, antennas=4), (cellar,)), [[51.0, 0.0, 1.0]])
    assert channel.tolist() == [[0j] * 4]


def test_both_directions_have_the_same_channel() -> None:
    scene = city()
    receivers = draw_receivers(scene, 15, np.random.default_rng(3))
    scene = replace(scene, transmitter=replace(MAST, position=scene.transmitter.position))
    there = trace(scene, receivers)[:, 0]
    back = [
        trace(
            replace(scene, transmitter=replace(MAST, position=tuple(place))),
            [scene.transmitter.position],
        )[0, 0]
        for place in receivers
    ]
    assert np.count_nonzero(there) > 10
    np.testing.assert_allclose(back, there, rtol=1e-8, atol=1e-16)
