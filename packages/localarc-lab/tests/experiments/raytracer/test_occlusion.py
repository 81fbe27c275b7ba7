"""Which lines a box blocks, by hand."""

import numpy as np
import pytest

from localarc_lab.experiments.beams.raytracer.occlusion import SKIN, clear
from localarc_lab.experiments.beams.raytracer.scene import Box

CUBE = Box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    ("start", "end", "free"),
    [
        ((-1.0, 0.5, 0.5), (2.0, 0.5, 0.5), False),  # through two faces
        ((-1.0, 0.5, 0.5), (0.5, 0.5, 0.5), False),  # ends inside
        ((0.2, 0.2, 0.2), (0.8, 0.8, 0.8), False),  # all inside
        ((-1.0, 0.5, 0.5), (-0.1, 0.5, 0.5), True),  # ends before
        ((2.0, 0.5, 0.5), (3.0, 0.5, 0.5), True),  # starts behind
        ((-1.0, 1.5, 0.5), (2.0, 1.5, 0.5), True),  # passes by
        ((-1.0, 0.5, 0.5), (0.0, 0.5, 0.5), True),  # reaches a face
        ((0.0, 0.5, 0.5), (-1.0, 0.9, 0.7), True),  # leaves a face
        ((-1.0, 0.5, 1.0), (2.0, 0.5, 1.0), True),  # slides over the roof
        ((-1.0, 0.5, 1.0 - SKIN / 2), (2.0, 0.5, 1.0 - SKIN / 2), True),  # in its skin
        ((-1.0, 0.5, 1.0 - 2 * SKIN), (2.0, 0.5, 1.0 - 2 * SKIN), False),
        ((-1.0, 0.0, 0.5), (0.0, -1.0, 0.5), True),  # past an edge
        ((-0.5, 0.6, 0.5), (0.6, -0.5, 0.5), False),  # through the corner of two walls
        ((-0.5, 0.4, 0.5), (0.4, -0.5, 0.5), True),
    ],
)
def test_a_box_blocks_what_runs_inside_it(
    start: tuple[float, ...], end: tuple[float, ...], free: bool
) -> None:
    ends = np.array([start]), np.array([end])
    assert clear([CUBE], *ends)[0] == free
    assert clear([CUBE], *ends[::-1])[0] == free  # there and back


def test_any_box_can_block_and_no_box_blocks_nothing() -> None:
    far = Box((5.0, 0.0, 0.0), (6.0, 1.0, 1.0))
    starts, ends = np.array([[2.0, 0.5, 0.5]] * 2), np.array([[9.0, 0.5, 0.5], [4.0, 0.5, 0.5]])
    assert clear([CUBE, far], starts, ends).tolist() == [False, True]
    assert clear([], starts, ends).tolist() == [True, True]
