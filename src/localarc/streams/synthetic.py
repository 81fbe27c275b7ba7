"""Synthetic streams with a known distribution."""

from __future__ import annotations

import numpy as np

from localarc import validation
from localarc.curves import miscoverage
from localarc.streams.stream import Stream
from localarc.validation import FloatArray

THIRDS = ("easy", "middle", "hard")


def heteroscedastic(n: int, seed: int, shift: bool = True) -> Stream:
    """Return a stream whose residuals are larger on one side of the unit square.

    x is uniform on the unit square. The score is the absolute value of normal noise with standard
    deviation `0.3 + 1.7 x_1`. Groups are the thirds of x_1: "easy", "middle" and "hard".

    Parameters
    ----------
    n : int
        Number of rounds.
    seed : int
        Seed of the generator. Same seed, same stream.
    shift : bool, default True
        Double the standard deviation in the second half, as if the model had degraded.

    Returns
    -------
    Stream
        Inputs, miscoverage curves and groups.

    Examples
    --------
    >>> stream = heteroscedastic(1000, seed=0)
    >>> len(stream), sorted(set(stream.groups))
    (1000, ['easy', 'hard', 'middle'])
    """
    rounds = validation.integer("n", n, 1, "It is the number of rounds.")
    generator = np.random.default_rng(
        validation.integer("seed", seed, 0, "Same seed, same stream.")
    )
    X = generator.uniform(size=(rounds, 2))
    scale = np.where(np.arange(rounds) >= rounds / 2, 2.0, 1.0) if shift else 1.0
    scores = np.abs(generator.normal(size=rounds)) * spread(X) * scale
    thirds = np.minimum((3 * X[:, 0]).astype(int), 2)
    groups = tuple(THIRDS[third] for third in thirds)
    return Stream("heteroscedastic", X, miscoverage(scores, widths=0.0), groups, ("x1", "x2"))


def spread(X: FloatArray) -> FloatArray:
    """Return the standard deviation of the noise of `heteroscedastic`, before the shift.

    Parameters
    ----------
    X : array of float, shape (n, 2)
        Inputs.

    Returns
    -------
    array of float, shape (n,)
        Standard deviations.

    Examples
    --------
    >>> spread(np.array([[0.0, 0.5], [1.0, 0.5]]))
    array([0.3, 2. ])
    """
    return np.asarray(0.3 + 1.7 * X[:, 0])
