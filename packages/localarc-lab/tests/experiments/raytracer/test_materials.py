"""What a slab sends back, in cases that a textbook solves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc_lab.experiments.beams.raytracer.materials import (
    BRICK,
    CONCRETE,
    GLASS,
    MEDIUM_DRY_GROUND,
    METAL,
    SPEED_OF_LIGHT,
    Material,
    reflection,
)

FREQUENCY = 2.14e9
WAVELENGTH = SPEED_OF_LIGHT / FREQUENCY
HEAD_ON = np.array([1.0])


def test_head_on_a_thick_wall_reflects_as_its_index_of_refraction_says() -> None:
    thick = Material("thick", 5.0, c=0.1, thickness=20.0)
    index = np.sqrt(thick.permittivity(FREQUENCY))
    te, tm = reflection(thick, HEAD_ON, FREQUENCY)
    np.testing.assert_allclose(te, (1 - index) / (1 + index), rtol=1e-12)
    np.testing.assert_allclose(tm, -te, rtol=1e-12)


def test_metal_is_a_mirror() -> None:
    te, tm = reflection(METAL, np.linspace(0.1, 1.0, 10), FREQUENCY)
    np.testing.assert_allclose(te, -1.0, atol=2e-3)
    np.testing.assert_allclose(tm, 1.0, atol=5e-3)


def test_a_grazing_wave_comes_back_with_its_sign_changed() -> None:
    te, tm = reflection(CONCRETE, np.array([1e-9]), FREQUENCY)
    np.testing.assert_allclose([te[0], tm[0]], -1.0, atol=1e-6)


def test_a_slab_of_air_or_of_no_thickness_reflects_nothing() -> None:
    cosine = np.linspace(0.1, 1.0, 10)
    np.testing.assert_allclose(reflection(Material("air", 1.0), cosine, FREQUENCY), 0, atol=1e-14)
    foil = Material("foil", 5.0, thickness=1e-9)
    np.testing.assert_allclose(reflection(foil, cosine, FREQUENCY), 0, atol=1e-6)


def test_half_a_wavelength_of_glass_is_a_window() -> None:
    window = Material("window", 6.25, thickness=WAVELENGTH / 2.5 / 2)
    np.testing.assert_allclose(reflection(window, HEAD_ON, FREQUENCY), 0, atol=1e-12)


def test_at_brewsters_angle_the_field_in_the_plane_of_incidence_is_not_reflected() -> None:
    te, tm = reflection(Material("pane", 4.0), np.cos(np.arctan([2.0])), FREQUENCY)
    assert abs(te[0]) > 0.1
    assert abs(tm[0]) < 1e-12


def test_the_slab_adds_up_its_inner_bounces() -> None:
    wall = Material("wall", 5.24, c=0.08, thickness=0.1)
    sine = 0.6
    inside = np.sqrt(wall.permittivity(FREQUENCY) - sine**2)
    face = (0.8 - inside) / (0.8 + inside)
    crossing = np.exp(-2j * np.pi / WAVELENGTH * wall.thickness * inside)
    total = face
    for bounces in range(60):  # in, to the back, (bounces) times round, and out
        total += (1 - face**2) * -face * crossing**2 * (face**2 * crossing**2) ** bounces
    np.testing.assert_allclose(reflection(wall, np.array([0.8]), FREQUENCY)[0], total, rtol=1e-12)


@given(st.floats(1.0, 30.0), st.floats(0.0, 10.0), st.floats(1e-3, 1.0), st.floats(1e-6, 1.0))
def test_no_wall_sends_back_more_than_it_gets(
    relative: float, conductivity: float, thickness: float, cosine: float
) -> None:
    wall = Material("wall", relative, c=conductivity, thickness=thickness)
    for coefficient in reflection(wall, np.array([cosine]), FREQUENCY):
        assert abs(coefficient[0]) <= 1 + 1e-9


def test_materials_follow_the_frequency() -> None:
    assert MEDIUM_DRY_GROUND.relative(1e9) == pytest.approx(15.0)
    assert MEDIUM_DRY_GROUND.relative(10e9) == pytest.approx(15 * 10**-0.1)
    assert GLASS.conductivity(10e9) == pytest.approx(0.0036 * 10**1.3394)
    assert BRICK.permittivity(1e9).imag == pytest.approx(-17.98 * 0.0238, rel=1e-3)


def test_impossible_materials_are_rejected() -> None:
    with pytest.raises(ValueError, match="a must be at least 1, the permittivity of vacuum"):
        Material("thin air", 0.5)
    with pytest.raises(ValueError, match="c must not be negative"):
        Material("source", 2.0, c=-1.0)
    with pytest.raises(ValueError, match="thickness must be positive"):
        Material("nothing", 2.0, thickness=0.0)
    with pytest.raises(TypeError, match="b must be a number"):
        Material("words", 2.0, b="much")  # type: ignore[arg-type]
