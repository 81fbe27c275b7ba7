"""Metrics: was the promise kept, on the whole, in each group and in each neighbourhood?"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.kernels import Kernel
from localarc.validation import FloatArray, IntArray

_PAIRS_AT_ONCE = 4_000_000


def risk(losses: ArrayLike) -> float:
    """The mean loss."""
    values = _losses(losses)
    return float(values.mean()) if len(values) else math.nan


def running_risk(losses: ArrayLike) -> FloatArray:
    """The mean loss after each round.

    >>> running_risk([1.0, 0.0, 0.5])
    array([1. , 0.5, 0.5])
    """
    values = _losses(losses)
    return np.asarray(np.cumsum(values) / np.arange(1, len(values) + 1))


def rolling_risk(losses: ArrayLike, window: int) -> FloatArray:
    """The mean loss of the latest `window` rounds, NaN until there are so many."""
    values = _losses(losses)
    width = validation.integer("window", window, 1, "It is a number of rounds.")
    rolling = np.full(len(values), np.nan)
    if len(values) >= width:
        sums = np.cumsum(np.concatenate(([0.0], values)))
        rolling[width - 1 :] = (sums[width:] - sums[:-width]) / width
    return rolling


def distance_to_target(losses: ArrayLike, alpha: float) -> FloatArray:
    """|mean loss - alpha| after each round: what the long-run bounds bound."""
    return np.abs(running_risk(losses) - alpha)


@dataclass(frozen=True)
class GroupRisk:
    """The mean loss and set size of one group, with standard errors as if rounds were independent.

    Streams are often correlated in time; then the true errors are larger.
    """

    group: Hashable
    count: int
    risk: float
    standard_error: float
    size: float
    size_standard_error: float


def group_risk(
    losses: ArrayLike, groups: Sequence[Hashable], sizes: ArrayLike | None = None
) -> list[GroupRisk]:
    """Risk and set size by group, in order of the groups' names.

    >>> [(row.group, row.count, row.risk) for row in group_risk([1, 0, 0], ["b", "a", "b"])]
    [('a', 1, 0.0), ('b', 2, 0.5)]
    """
    values = _losses(losses)
    labels = validation.per_round("groups", groups, len(values))
    extent = np.full(len(values), np.nan) if sizes is None else np.asarray(sizes, np.float64)
    if len(extent) != len(values):
        raise ValueError(f"sizes must hold one per round, got {len(extent)} for {len(values)}.")
    rounds: dict[Hashable, list[int]] = {}
    for t, group in enumerate(labels):
        rounds.setdefault(group.item() if isinstance(group, np.generic) else group, []).append(t)
    return [
        GroupRisk(group, len(rows), *_mean(values[rows]), *_mean(extent[rows]))
        for group, rows in sorted(rounds.items(), key=lambda item: _order(item[0]))
    ]


def _order(group: Hashable) -> tuple[bool, float, str]:
    number = isinstance(group, int | float)
    return not number, float(group) if isinstance(group, int | float) else 0.0, str(group)


def _mean(values: FloatArray) -> tuple[float, float]:
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return float(values.mean()), error


@dataclass(frozen=True, eq=False)
class LocalRisk:
    """Kernel-weighted risk at centres: `sum_t w(x_t) L_t / sum_t w(x_t)`.

    `counts` are effective numbers of rounds, `(sum w)^2 / sum w^2`.
    """

    centres: FloatArray
    risks: FloatArray
    standard_errors: FloatArray
    counts: FloatArray


def localized_risk(
    X: ArrayLike, losses: ArrayLike, kernel: Kernel, centres: ArrayLike
) -> LocalRisk:
    """The risk around each centre, as the kernel sees it.

    >>> from localarc import RBF
    >>> localized_risk([0.0, 9.0], [1.0, 0.0], RBF(1.0), [0.0, 9.0]).risks.round(9)
    array([1., 0.])
    """
    points = validation.points(X)
    values = _losses(losses)
    at = validation.points(centres, points.shape[1])
    check_kernel(kernel)
    if len(values) != len(points):
        raise ValueError(f"losses must hold one per row of X, got {len(values)} for {len(points)}.")
    rows = max(1, _PAIRS_AT_ONCE // max(1, len(points)))
    parts = [
        _weighted(kernel.matrix(at[i : i + rows], points), values) for i in range(0, len(at), rows)
    ]
    risks, errors, counts = np.concatenate(parts, axis=1) if parts else np.zeros((3, 0))
    return LocalRisk(at, risks, errors, counts)


def check_kernel(kernel: Any) -> None:
    """Neighbourhoods are what a kernel sees, so there must be one."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"a neighbourhood must be a kernel, got {kernel!r}. For example RBF(1.0).")


def _weighted(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Weighted means, their standard errors and effective counts; NaN where nothing is near."""
    with np.errstate(invalid="ignore", divide="ignore"):
        total = weights.sum(axis=1)
        risks = (weights * values).sum(axis=1) / total
        squares = weights**2
        spread = (squares * (values - risks[:, None]) ** 2).sum(axis=1)
        counts = total**2 / squares.sum(axis=1)
        # n / (n - 1): one effective round says nothing about its own error.
        errors = np.sqrt(spread * counts / np.maximum(counts - 1.0, 0.0)) / total
    return np.stack([risks, errors, counts])


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A place where the promise fails, or comes closest to failing."""

    centre: FloatArray
    risk: float
    standard_error: float
    count: float


def worst_neighbourhood(
    X: ArrayLike,
    losses: ArrayLike,
    kernel: Kernel,
    *,
    least_count: float = 30.0,
    candidates: int = 512,
) -> Neighbourhood:
    """The place with the highest risk that is not explained by chance.

    Candidates are inputs that were seen, spread over the stream's space. They are ranked by risk
    minus two standard errors, so that a few unlucky rounds do not win, and places with fewer
    effective rounds than `least_count` are left out.
    """
    return worst_neighbourhoods(
        X, losses, kernel, 1, least_count=least_count, candidates=candidates
    )[0]


def worst_neighbourhoods(
    X: ArrayLike,
    losses: ArrayLike,
    kernel: Kernel,
    number: int = 5,
    *,
    least_count: float = 30.0,
    candidates: int = 512,
) -> list[Neighbourhood]:
    """The worst places, apart from each other: no centre weighs more than half at another."""
    points = validation.points(X)
    local = localized_risk(points, losses, kernel, points[_spread(points, candidates)])
    lower = local.risks - 2.0 * local.standard_errors
    order = [i for i in np.argsort(-lower) if local.counts[i] >= least_count]
    if not order:
        raise ValueError(
            f"no neighbourhood holds {least_count:g} effective rounds. Give more rounds, a kernel "
            "with a larger length_scale, or a smaller least_count where that can be chosen."
        )
    chosen: list[int] = []
    for i in order:
        near = kernel.matrix(local.centres[i : i + 1], local.centres[chosen])[0]
        peak = kernel.matrix(local.centres[i : i + 1], local.centres[i : i + 1])[0, 0]
        if len(chosen) < number and (near <= peak / 2).all():
            chosen.append(int(i))
    return [
        Neighbourhood(
            local.centres[i],
            float(local.risks[i]),
            float(local.standard_errors[i]),
            float(local.counts[i]),
        )
        for i in chosen
    ]


def _spread(points: FloatArray, number: int) -> IntArray:
    """Farthest-point sampling: rounds whose inputs cover the stream's space."""
    if len(points) <= number:
        return np.arange(len(points))
    scale = points.std(axis=0)
    scaled = (points - points.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    chosen = np.empty(number, dtype=np.int64)
    distance = np.full(len(points), np.inf)
    nearest = int(np.argmin((scaled**2).sum(axis=1)))
    for i in range(number):
        chosen[i] = nearest
        distance = np.minimum(distance, ((scaled - scaled[nearest]) ** 2).sum(axis=1))
        nearest = int(np.argmax(distance))
    return chosen


def _losses(losses: ArrayLike) -> FloatArray:
    values = validation.numbers("losses", losses)
    if values.ndim != 1:
        raise ValueError(f"losses must be one number per round, got shape {values.shape}.")
    return values
