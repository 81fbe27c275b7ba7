"""Synthetic streams, whose law is known."""

from __future__ import annotations

import numpy as np

from localarc import validation
from localarc.curves import miscoverage
from localarc.streams.stream import Stream
from localarc.validation import FloatArray

THIRDS = ("easy", "middle", "hard")


def heteroscedastic(n: int, seed: int, shift: bool = True) -> Stream:
    """Residuals that are harder to cover on one side of the unit square.

    x is uniform in the unit square; the score is the size of normal noise whose standard deviation
    is 0.3 + 1.7 x_1. With `shift`, that doubles half-way: the model gets worse while it runs.
    Groups are the thirds of x_1, "easy", "middle" and "hard".

    >>> stream = heteroscedastic(1000, seed=0)
    >>> len(stream), sorted(set(stream.groups))
    (1000, ['easy', 'hard', 'middle'])
    """
    rounds = validation.integer("n", n, 1, "It is the number of rounds.")
    generator = np.random.default_rng(
        validation.integer("seed", seed, 0, "It makes the stream again.")
    )
    X = generator.uniform(size=(rounds, 2))
    scale = np.where(np.arange(rounds) >= rounds / 2, 2.0, 1.0) if shift else 1.0
    scores = np.abs(generator.normal(size=rounds)) * spread(X) * scale
    thirds = np.minimum((3 * X[:, 0]).astype(int), 2)
    groups = tuple(THIRDS[third] for third in thirds)
    return Stream("heteroscedastic", X, miscoverage(scores, widths=0.0), groups, ("x1", "x2"))


def spread(X: FloatArray) -> FloatArray:
    """The standard deviation of the noise at each input, before the shift."""
    return np.asarray(0.3 + 1.7 * X[:, 0])
