"""The worst neighbourhoods of many methods at once, which share all kernel weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from localarc.kernels import RBF, Kernel
from localarc.measures.neighbourhoods import spread_centres
from localarc.running.from_data import NEIGHBOURHOOD_SHARES, lengths_by_share
from localarc.streams import Stream
from localarc.validation import FloatArray
from localarc_lab.compare.result import Local

_MIN_ROUNDS = 50.0  # in a typical neighbourhood
_MIN_COUNT = 30.0  # effective rounds, as in `measures.worst_neighbourhood`
_CENTRES = 512
_PAIRS_AT_ONCE = 4_000_000


def worst_places(stream: Stream, losses: FloatArray) -> list[tuple[Local, ...]]:
    """Return the worst neighbourhoods of each size for each column of losses.

    There are three sizes, fewer if a typical neighbourhood would have less than 50 rounds, and
    none without features. They are those of `measures.worst_neighbourhood`.
    """
    shares = [share for share in NEIGHBOURHOOD_SHARES if share * len(stream) >= _MIN_ROUNDS]
    if not stream.X.shape[1] or not shares:
        return [() for _ in losses.T]
    centres = stream.X[spread_centres(stream.X, _CENTRES)]
    kernels = map(RBF, lengths_by_share(stream.X, shares))
    by_size = [
        _worst(f"{share:.0%}".replace("%", " %"), kernel, centres, stream.X, losses)
        for share, kernel in zip(shares, kernels, strict=True)
    ]
    return list(zip(*by_size, strict=True))


def _worst(
    name: str, kernel: Kernel, centres: FloatArray, X: FloatArray, losses: FloatArray
) -> list[Local]:
    """The worst neighbourhood of one size, for each column of losses."""
    rows = max(1, _PAIRS_AT_ONCE // len(X))
    parts = [
        _weighted(kernel.matrix(centres[i : i + rows], X), losses)
        for i in range(0, len(centres), rows)
    ]
    risks, errors, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    enough = counts[:, 0] >= _MIN_COUNT
    if not enough.any():
        return [Local(name, math.nan, math.nan, 0.0) for _ in losses.T]
    lower = np.where(enough[:, None], risks - 2.0 * errors, -np.inf)
    return [
        Local(name, float(risks[i, m]), float(errors[i, m]), float(counts[i, 0]))
        for m, i in enumerate(np.argmax(lower, axis=0).tolist())
    ]


def _weighted(weights: FloatArray, losses: FloatArray) -> Sequence[FloatArray]:
    """Weighted means, their standard errors and effective counts, by centre and method."""
    total = weights.sum(axis=1)[:, None]
    squares = weights**2
    sums = squares.sum(axis=1)[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        risks = weights @ losses / total
        spread = squares @ losses**2 - 2.0 * risks * (squares @ losses) + risks**2 * sums
        counts = total**2 / sums
        errors = np.sqrt(np.maximum(spread, 0.0) * counts / np.maximum(counts - 1.0, 0.0)) / total
    return risks, errors, counts
