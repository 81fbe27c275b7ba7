"""Maps: several methods over one area."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from localarc.figures import Ground, maps


def test_maps_share_a_colour_scale_and_mark_what_is_below_it() -> None:
    area = ((-70.0, 70.0), (-50.0, 50.0))
    ground = Ground(area, [(-10.0, -10.0, 10.0, 10.0)], (0.0, -60.0))
    panels = {"one": np.array([[-np.inf, 1.0]]), "two": np.array([[3.0, np.nan]])}
    axes = Figure(layout="constrained").subplots()
    assert maps(axes, panels, ground, "a title", "a label", columns=2) is axes
    axes.figure.savefig("/dev/null", format="png")  # type: ignore[union-attr]
    first, second = axes.get_images()
    assert first.get_clim() == second.get_clim() == (1.0, 3.0)
    drawn: Any = first.get_array()
    assert drawn[0, 0] < 1.0
    assert not np.ma.getmaskarray(drawn).any()
    assert len([patch for patch in axes.patches if patch.get_fill()]) == 2
    with pytest.raises(ValueError, match="at least one map"):
        maps(axes, {}, ground, "a title", "a label")


def test_the_ground_reaches_to_the_transmitter() -> None:
    area = ((0.0, 100.0), (0.0, 50.0))
    assert Ground(area).borders() == (0.0, 0.0, 100.0, 50.0)
    assert Ground(area, (), (50.0, -20.0)).borders() == (0.0, -23.0, 100.0, 50.0)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_panels_do_not_overlap(number: int) -> None:
    ground = Ground(((0.0, 100.0), (0.0, 50.0)), (), (50.0, -20.0))
    axes = Figure(layout="constrained").subplots()
    maps(axes, {str(i): np.zeros((5, 10)) for i in range(number)}, ground, "", "", (0.0, 1.0), 2)
    places = {tuple(image.get_extent()) for image in axes.get_images()}
    assert len(places) == number
    for west, east, south, north in places:
        for other in places - {(west, east, south, north)}:
            apart = east <= other[0] or other[1] <= west or north <= other[2] or other[3] <= south
            assert apart
