"""Neighbourhoods, length scales and rates that come from the data, for users who state none.

All of them follow the units of the inputs and scores.
"""

from __future__ import annotations

import numpy as np

from localarc.curves import Curves
from localarc.kernels import RBF
from localarc.rates import Constant, InverseSqrt
from localarc.validation import FloatArray

NEIGHBOURHOOD_SHARES = 0.3, 0.1, 0.03
"""Sizes of the neighbourhoods to compare, as shares of the rounds."""

KERNEL_SHARES = 0.5, 0.2, 0.07
"""Length scales of the candidates, by the share of the rounds in a neighbourhood."""

FIRST_STEPS = 1.0, 2.0, 4.0, 8.0
CONSTANT_STEPS = 0.03, 0.1, 0.3
"""Rates of the candidates, in units of the spread of the scores."""

_REGULARIZATION = 1e-4  # the default of L-ARC, for scores whose spread is 1
_MIN_ROUNDS = 50
_SAMPLE = 512
_OCTAVES = np.arange(-6.0, 6.0, 0.5)  # powers of two to try as length scales, in spreads

Lengths = float | tuple[float, ...]


def neighbourhoods(X: FloatArray, rounds: int) -> tuple[RBF, ...]:
    """Return kernels of several sizes, each large enough for about 50 of `rounds` rounds.

    >>> X = np.random.default_rng(0).uniform(size=(4000, 1))
    >>> len(neighbourhoods(X, rounds=1000)), len(neighbourhoods(X, rounds=4000))
    (2, 3)
    """
    shares = [share for share in NEIGHBOURHOOD_SHARES if share * rounds >= _MIN_ROUNDS]
    smallest = min(1.0, _MIN_ROUNDS / rounds)
    return tuple(RBF(lengths) for lengths in lengths_by_share(X, shares or [smallest]))


def length_scales(X: FloatArray) -> list[Lengths]:
    """Return length scales for candidates, one per feature, from wide to narrow.

    >>> X = np.random.default_rng(0).uniform(size=(1000, 1)) * 60.0
    >>> 5.0 < length_scales(X)[0] < 12.0
    True
    """
    return lengths_by_share(X, KERNEL_SHARES)


def rates(curves: Curves, alpha: float) -> list[InverseSqrt | Constant]:
    """Return rates for candidates in the units of the scores, decreasing ones and constant ones.

    >>> from localarc.curves import miscoverage
    >>> rates(miscoverage(np.linspace(0.0, 125.0, 1001)), alpha=0.1)[0]
    InverseSqrt(eta=100.0)
    """
    unit = score_unit(curves, alpha)
    decreasing = [InverseSqrt(step * unit) for step in FIRST_STEPS]
    return [*decreasing, *(Constant(step * unit) for step in CONSTANT_STEPS)]


def regularization(curves: Curves, alpha: float) -> float:
    """Return a regularization in the units of the scores: rate times regularization has none.

    >>> from localarc.curves import miscoverage
    >>> regularization(miscoverage(np.linspace(0.0, 125.0, 1001)), alpha=0.1)
    1e-06
    """
    return _REGULARIZATION / score_unit(curves, alpha)


def score_unit(curves: Curves, alpha: float) -> float:
    """Return the spread of the scores, 1 if none is finite."""
    scores = curves.min_thresholds(alpha)
    finite = scores[np.isfinite(scores)]
    return float(spread_of(finite[:, None])[0]) if len(finite) else 1.0


def lengths_by_share(X: FloatArray, shares: list[float] | tuple[float, ...]) -> list[Lengths]:
    """Return length scales at which a typical Gaussian neighbourhood has a share of the rounds.

    Rounds are counted by their weights, `(sum w)^2 / sum w^2`. Neighbourhoods are wide along
    features that vary much, and their sizes do not depend on the number of features.
    """
    rows = X[np.linspace(0, len(X) - 1, min(len(X), _SAMPLE)).astype(np.int64)]
    spread = spread_of(X)
    typical = [_typical_share(rows / spread, float(2.0**octave)) for octave in _OCTAVES]
    chosen = [spread * 2.0**octave for octave in np.interp(shares, typical, _OCTAVES)]
    return [float(each[0]) if len(each) == 1 else tuple(each.tolist()) for each in chosen]


def _typical_share(rows: FloatArray, length_scale: float) -> float:
    weights = RBF(length_scale).matrix(rows, rows)
    counts = weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)
    return float(np.median(counts)) / len(rows)


def spread_of(values: FloatArray) -> FloatArray:
    """Return the range of the middle 80 % of each column; the whole range, or 1, if that is 0.

    >>> spread_of(np.array([[0.0, 1.0], [10.0, 1.0]]))
    array([8., 1.])
    """
    low, q10, q90, high = np.quantile(values, (0.0, 0.1, 0.9, 1.0), axis=0)
    spread = np.where(q90 > q10, q90 - q10, high - low)
    return np.where(spread > 0.0, spread, 1.0)
