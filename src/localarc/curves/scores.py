"""Scores: how ill a candidate fits. Lower is better, and ties, signs and strictness live here.

The set at a threshold is {y : score(y) <= threshold}: a candidate that ties is in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.validation import FloatArray


def within(scores: ArrayLike, threshold: ArrayLike) -> NDArray[np.bool_]:
    """Which candidates the set at a threshold holds."""
    return np.asarray(np.asarray(scores) <= np.asarray(threshold))


def residual(prediction: ArrayLike, y: ArrayLike) -> FloatArray:
    """|y - prediction|, whose sets are intervals around the prediction."""
    at, centre = _alike(y=y, prediction=prediction)
    return np.asarray(np.abs(at - centre))


def quantile_excess(lower: ArrayLike, upper: ArrayLike, y: ArrayLike) -> FloatArray:
    """How far y lies outside [lower, upper], negative inside: conformal quantile regression."""
    at, low, high = _alike(y=y, lower=lower, upper=upper)
    return np.maximum(low - at, at - high)


def _alike(**given: ArrayLike) -> list[FloatArray]:
    """The arrays, which must have one shape: a column and a row would make a table."""
    arrays = {name: validation.numbers(name, values) for name, values in given.items()}
    shapes = {name: array.shape for name, array in arrays.items() if array.ndim}
    if len(set(shapes.values())) > 1:
        said = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"{' and '.join(given)} must have one shape, got {said}: ravel columns.")
    return list(arrays.values())


def negative_probability(probabilities: ArrayLike) -> FloatArray:
    """-p: the paper's {p > threshold}, turned round."""
    return -_probabilities(probabilities)


def cumulative_probability(probabilities: ArrayLike) -> FloatArray:
    """For each label, the probability of all labels at least as likely (adaptive sets).

    >>> cumulative_probability([0.2, 0.5, 0.3])
    array([1. , 0.5, 0.8])
    """
    p = _probabilities(probabilities)
    if p.ndim == 0 or p.shape[-1] == 0:
        raise ValueError(f"probabilities must hold one for each label, got shape {p.shape}.")
    order = np.argsort(-p, axis=-1, kind="stable")
    sorted_p = np.take_along_axis(p, order, axis=-1)
    scores = np.empty_like(p)
    sums = np.minimum(np.cumsum(sorted_p, axis=-1), 1.0)  # rounding must not leave [0, 1]
    np.put_along_axis(scores, order, sums, axis=-1)
    return _equal_for_ties(p, scores)


def _equal_for_ties(p: FloatArray, scores: FloatArray) -> FloatArray:
    # Labels that are equally likely enter together, at the largest of their sums.
    flat_p, flat = p.reshape(-1, p.shape[-1]), scores.reshape(-1, p.shape[-1])
    for row_p, row in zip(flat_p, flat, strict=True):
        if len(np.unique(row_p)) < len(row_p):
            for value in np.unique(row_p):
                row[row_p == value] = row[row_p == value].max()
    return flat.reshape(p.shape)


def _probabilities(values: ArrayLike) -> FloatArray:
    p = validation.numbers("probabilities", values)
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        raise ValueError(
            f"probabilities must lie in [0, 1], got {p.min()} to {p.max()}. "
            "Apply softmax or a sigmoid to logits first."
        )
    return p
