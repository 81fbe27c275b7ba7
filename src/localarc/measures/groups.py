"""Risk and set size per group."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.measures.risk import loss_vector
from localarc.tables import frames
from localarc.tables.frames import IntoFrame
from localarc.validation import FloatArray


@dataclass(frozen=True)
class GroupRisk:
    """Risk and mean set size of one group, with standard errors.

    Standard errors treat rounds as independent. Streams are often correlated in time; the true
    errors are then larger, and `block_bootstrap` estimates them.

    Parameters
    ----------
    group : hashable
        The group.
    count : int
        Number of rounds.
    risk : float
        Mean loss.
    standard_error : float
        Standard error of the risk; NaN for a single round.
    size : float
        Mean size of the sets that are bounded; NaN if sizes are unknown.
    size_standard_error : float
        Standard error of the size.

    Examples
    --------
    >>> group_risk([1.0, 0.0], ["a", "a"])[0].risk
    0.5
    """

    group: Hashable
    count: int
    risk: float
    standard_error: float
    size: float
    size_standard_error: float


def group_risk(
    losses: ArrayLike, groups: Sequence[Hashable] | IntoFrame, sizes: ArrayLike | None = None
) -> list[GroupRisk]:
    """Return risk and mean set size per group, sorted by the name of the group.

    Parameters
    ----------
    losses : array_like of float, shape (n,)
        Loss of each round.
    groups : sequence of n hashable, lists or sets; series or frame
        Group of each round, or several in a list, a set or a mapping to weights, whose positive
        ones count. With a frame, each of its columns splits the rounds, as in "region=north".
    sizes : array_like of float, shape (n,), optional
        Set size of each round.

    Returns
    -------
    list of GroupRisk
        One entry per group; numbers before text. `pandas.DataFrame` and `polars.DataFrame` make a
        table of it.

    Examples
    --------
    >>> [(row.group, row.count, row.risk) for row in group_risk([1, 0, 0], ["b", "a", "b"])]
    [('a', 1, 0.0), ('b', 2, 0.5)]
    """
    values = loss_vector(losses)
    if frames.rows_of(losses, groups, sizes) is not None:
        groups = frames.labels(groups)
    labels = validation.per_round("groups", groups, len(values))
    extent = np.full(len(values), np.nan) if sizes is None else validation.floats("sizes", sizes)
    if len(extent) != len(values):
        raise ValueError(
            f"sizes must have one entry per round, got {len(extent)} for {len(values)} rounds."
        )
    rounds = validation.rounds_by_group(labels)
    return [
        GroupRisk(group, len(rows), *_mean(values[rows]), *_mean(_bounded(extent[rows])))
        for group, rows in sorted(rounds.items(), key=lambda item: _sort_key(item[0]))
    ]


def _sort_key(group: Hashable) -> tuple[bool, float, str]:
    """Order numbers by value, then everything else by its text."""
    number = isinstance(group, int | float)
    return not number, float(group) if isinstance(group, int | float) else 0.0, str(group)


def _bounded(sizes: FloatArray) -> FloatArray:
    return sizes[~np.isinf(sizes)]


def _mean(values: FloatArray) -> tuple[float, float]:
    """Return the mean and its standard error."""
    if not len(values):
        return math.nan, math.nan
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return float(values.mean()), error
