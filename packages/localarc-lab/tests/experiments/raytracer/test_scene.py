"""Scenes: what is allowed, what is outdoors, and the two layouts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localarc_lab.experiments.beams.raytracer import (
    AREA,
    Box,
    Scene,
    Transmitter,
    city,
    draw_receivers,
    outdoors,
    urban,
)

MAST = Transmitter((0.0, 0.0, 30.0))
HOUSE = Box((10.0, 10.0, 0.0), (20.0, 20.0, 8.0))


def test_outdoors_is_above_the_ground_and_in_no_box() -> None:
    scene = Scene(MAST, (HOUSE,))
    places = [
        [15.0, 15.0, 1.0],  # inside
        [15.0, 15.0, 8.0],  # on the roof
        [15.0, 15.0, 8.1],
        [9.9, 15.0, 1.0],
        [0.0, 0.0, 0.0],  # on the ground
        [0.0, 0.0, -1.0],
    ]
    assert outdoors(scene, places).tolist() == [False, False, True, True, False, False]


def test_scenes_are_values() -> None:
    assert city() == city()
    assert hash(urban(3)) == hash(urban(3))
    assert urban(3) != urban(4)


def test_a_box_needs_an_inside() -> None:
    with pytest.raises(
        ValueError, match=r"length, width and height above zero.*smaller coordinate"
    ):
        Box((0.0, 0.0, 0.0), (1.0, 0.0, 1.0))
    with pytest.raises(ValueError, match="lower must be three numbers"):
        Box((0.0, 0.0), (1.0, 1.0, 1.0))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="upper must be finite"):
        Box((0.0, 0.0, 0.0), (1.0, 1.0, float("nan")))


def test_a_transmitter_needs_antennas_and_a_frequency() -> None:
    with pytest.raises(ValueError, match="antennas must be a whole number of at least 1"):
        Transmitter((0.0, 0.0, 1.0), antennas=0)
    with pytest.raises(ValueError, match="frequency must be positive"):
        Transmitter((0.0, 0.0, 1.0), frequency=0.0)
    with pytest.raises(ValueError, match="pattern must be one of"):
        Transmitter((0.0, 0.0, 1.0), pattern="dipole")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="azimuth must be a number"):
        Transmitter((0.0, 0.0, 1.0), azimuth="north")  # type: ignore[arg-type]


def test_overlapping_or_buried_objects_are_rejected() -> None:
    with pytest.raises(ValueError, match=r"Boxes 0 and 1 must not overlap.*may touch"):
        Scene(MAST, (HOUSE, Box((19.0, 19.0, 0.0), (30.0, 30.0, 5.0))))
    with pytest.raises(ValueError, match=r"Box 0 must not reach below the ground at 1\.0"):
        Scene(MAST, (HOUSE,), ground=1.0)
    with pytest.raises(ValueError, match="transmitter must be above the ground and in no box"):
        Scene(Transmitter((15.0, 15.0, 3.0)), (HOUSE,))
    Scene(MAST, (HOUSE, Box((20.0, 10.0, 0.0), (30.0, 20.0, 5.0))))  # wall to wall


def test_the_city_is_laid_out_as_the_paper_says() -> None:
    scene = city()
    mast = scene.transmitter
    assert (mast.antennas, mast.frequency, mast.pattern) == (8, 2.14e9, "tr38901")
    assert mast.position[2] == 30.0
    assert mast.position[1] < AREA[1][0]
    assert [high - low for low, high in AREA] == [140.0, 100.0]
    ahead = np.array([np.tan(np.radians(90 - mast.downtilt)) * (30.0 - 1.0), mast.azimuth])
    np.testing.assert_allclose(ahead, [60.0, 90.0])  # it looks at the middle of the area


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 6), st.floats(0.0, 1.0))
def test_a_street_grid_has_at_most_one_building_in_a_cell(
    seed: int, columns: int, rows: int, density: float
) -> None:
    cells = []
    for box in urban(seed, columns, rows, density).boxes:
        low = [(box.lower[0] + 70) / 140 * columns, (box.lower[1] + 50) / 100 * rows]
        high = [(box.upper[0] + 70) / 140 * columns, (box.upper[1] + 50) / 100 * rows]
        cell = np.floor(np.add(low, high) / 2)
        assert (cell <= low).all()
        assert (high <= cell + 1).all()
        cells.append(tuple(cell))
    assert len(set(cells)) == len(cells)


def test_density_says_how_much_is_built() -> None:
    assert urban(0, density=0.0).boxes == ()
    assert len(urban(0, density=1.0).boxes) == 12
    assert 0 < len(urban(0, 9, 9, 0.5).boxes) < 81


def test_an_impossible_grid_is_rejected() -> None:
    with pytest.raises(ValueError, match="density must be between 0 and 1"):
        urban(0, density=1.5)
    with pytest.raises(ValueError, match="columns must be a whole number"):
        urban(0, columns=0)
    with pytest.raises(ValueError, match="seed must be a whole number"):
        urban(-1)


def test_receivers_are_drawn_outdoors_over_the_whole_area() -> None:
    scene = city()
    receivers = draw_receivers(scene, 3000, np.random.default_rng(0))
    assert receivers.shape == (3000, 3)
    assert outdoors(scene, receivers).all()
    assert (receivers[:, 2] == 1.0).all()
    for axis, (low, high) in enumerate(AREA):
        assert receivers[:, axis].min() < low + 1
        assert receivers[:, axis].max() > high - 1


def test_a_scene_without_outdoor_space_is_rejected() -> None:
    full = Scene(Transmitter((0.0, 0.0, 99.0)), (Box((-80.0, -60.0, 0.0), (80.0, 60.0, 9.0)),))
    with pytest.raises(ValueError, match="has no outdoor space"):
        draw_receivers(full, 1, np.random.default_rng(0))
