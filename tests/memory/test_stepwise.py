"""Rounds in Python, one by one, are the rounds of the engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from examples import bump, stream
from localarc import RBF, KeepAll
from localarc.kernels import Custom
from localarc.memory.base import Played, Rounds


def replayed(kernel: Any, **limits: float) -> Played:
    X, curves = stream(300, 2)
    rates = 1.0 / np.sqrt(np.arange(1, 301))
    usual = {"constant": 3.0, "clip": math.inf, "radius": math.inf, "square": 0.0}
    rounds = Rounds(X, curves, rates, 1.0 - 0.1 * rates, alpha=0.1, **(usual | limits))
    played: Played = KeepAll().expansion(kernel, 2).replay(rounds)
    return played


@pytest.mark.slow
@pytest.mark.parametrize("limits", [{}, {"floor": 2.5}, {"clip": 0.05}, {"radius": 0.1}], ids=repr)
def test_a_kernel_in_python_replays_as_the_same_one_compiled(limits: dict[str, float]) -> None:
    python = replayed(Custom(bump, scale=1.0), **limits)
    compiled = replayed(RBF.from_paper(1.0), **limits)
    np.testing.assert_allclose(python.thresholds, compiled.thresholds, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(python.losses, compiled.losses)
    if limits:
        assert np.abs(python.thresholds - replayed(RBF.from_paper(1.0)).thresholds).max() > 0.02
