"""The scene as Sionna RT reads it."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from localarc.validation import FloatArray
from localarc_lab.experiments.beams.raytracer import Box, Material, Scene, Transmitter
from localarc_lab.experiments.beams.raytracer.materials import BRICK, CONCRETE, MEDIUM_DRY_GROUND
from localarc_lab.experiments.beams.raytracer.mitsuba_xml import as_xml

BOXES = (
    Box((1.0, 2.0, 0.5), (4.0, 8.0, 9.0)),
    Box((-30.0, -7.25, 0.5), (-10.0, 2.0, 3.0), BRICK),
    Box((10.0, 2.0, 0.5), (11.0, 8.0, 9.0)),
)
SCENE = Scene(Transmitter((0.0, -60.0, 30.0)), BOXES, ground=0.5)
TREE = ElementTree.fromstring(as_xml(SCENE, np.array([[70.0, 50.0, 1.0]])))


def ends(name: str) -> tuple[FloatArray, FloatArray]:
    """The corners of a shape whose own are at -1 and 1."""
    half, middle = (
        np.array([float(TREE.find(f"shape[@id='{name}']//{tag}").attrib[a]) for a in "xyz"])  # type: ignore[union-attr]
        for tag in ("scale", "translate")
    )
    return middle - half, middle + half


def material(name: str) -> dict[str, float]:
    reference = TREE.find(f"shape[@id='{name}']/ref")
    assert reference is not None
    numbers = TREE.findall(f"bsdf[@id='{reference.attrib['id']}']/float")
    return {number.attrib["name"]: float(number.attrib["value"]) for number in numbers}


def test_every_box_is_where_it_was() -> None:
    for number, box in enumerate(BOXES):
        np.testing.assert_allclose(ends(f"box-{number}"), [box.lower, box.upper])


def test_the_ground_reaches_beyond_all_that_stands_on_it() -> None:
    low, high = ends("ground")
    assert (low[:2] <= [-30.0, -60.0]).all()
    assert (high[:2] >= [70.0, 50.0]).all()
    assert (low[2] + high[2]) / 2 == 0.5


@pytest.mark.parametrize(
    ("shape", "expected"),
    [("ground", MEDIUM_DRY_GROUND), ("box-0", CONCRETE), ("box-1", BRICK), ("box-2", CONCRETE)],
)
def test_materials_come_with_their_numbers_at_the_frequency(shape: str, expected: Material) -> None:
    assert material(shape) == {
        "relative_permittivity": expected.relative(2.14e9),
        "conductivity": expected.conductivity(2.14e9),
        "thickness": 0.1,
    }


def test_equal_materials_are_written_once() -> None:
    assert len(TREE.findall("bsdf")) == 3
    bare = ElementTree.fromstring(as_xml(replace(SCENE, boxes=()), np.array([[1.0, 1.0, 1.0]])))
    assert len(bare.findall("shape")) == 1
