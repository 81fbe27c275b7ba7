"""Random Fourier features, to show why localarc does not offer them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.engine.streams import ALPHA, Work


def random_features(work: Work, number: int) -> Any:
    """Thresholds of L-ARC with a Gaussian kernel replaced by `number` cosines."""
    random = np.random.default_rng(0)
    frequencies = random.normal(size=(work.X.shape[1], number)) * np.sqrt(2.0 / work.length_scale)
    phases = random.uniform(0.0, 2.0 * np.pi, number)
    weights = np.zeros(number)
    constant = 0.0
    thresholds = np.empty(len(work))
    for t, x in enumerate(work.X):
        phi = np.sqrt(2.0 / number) * np.cos(x @ frequencies + phases)
        thresholds[t] = weights @ phi + constant
        eta = (t + 1) ** -0.5
        push = eta * (float(work.scores[t] > thresholds[t]) - ALPHA)
        weights *= 1.0 - 1e-4 * eta
        weights += push * phi
        constant += push
    return thresholds
