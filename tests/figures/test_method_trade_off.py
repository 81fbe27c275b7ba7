"""Methods by size and risk: names can be read, however many there are."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from localarc.figures import method_trade_off


@pytest.mark.parametrize("risks", [[0.1] * 24, [0.01 * k for k in range(24)], [0.0], [0.9] * 24])
def test_names_of_methods_do_not_overlap(risks: list[float]) -> None:
    points = {f"method {i}": (1.0 + i, risk, 0.01) for i, risk in enumerate(risks)}
    axes = method_trade_off(Figure(figsize=(8.0, 6.4)).subplots(), points, 0.1, "risk")
    names = [text for text in axes.texts if "method" in text.get_text()]
    heights = np.sort([text.get_position()[1] for text in names])
    bottom, top = axes.get_ylim()
    assert len(names) == len(points)
    assert (np.diff(heights) >= 0.99 * top / 25).all()
    assert bottom <= heights[0] <= heights[-1] <= top


def test_a_name_is_in_the_order_of_risks() -> None:
    points = {"low": (2.0, 0.1, 0.0), "high": (1.0, 0.3, 0.0)}
    axes = method_trade_off(Figure().subplots(), points, 0.1, "risk")
    heights = {text.get_text().strip(): text.get_position()[1] for text in axes.texts}
    assert heights["low"] < heights["high"]
