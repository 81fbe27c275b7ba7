"""Scores: how poorly a candidate outcome fits (nonconformity). Lower is better.

The set at a threshold is {y : score(y) <= threshold}: a score that equals the threshold is in.
Signs, ties and strictness are settled in this module and nowhere else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.validation import FloatArray


def within(scores: ArrayLike, threshold: ArrayLike) -> NDArray[np.bool_]:
    """Return which candidates belong to the set at a threshold."""
    return np.asarray(np.asarray(scores) <= np.asarray(threshold))


def residual(prediction: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return the absolute residual `|y - prediction|`, whose sets are `prediction +- threshold`.

    Parameters
    ----------
    prediction : array_like of float, shape (n,) or ()
        Predictions of the model.
    y : array_like of float, shape (n,) or ()
        Outcomes, in the units of the prediction.

    Returns
    -------
    array of float, shape (n,) or ()
        Scores.

    Examples
    --------
    >>> residual([1.0, 2.0], [1.5, 2.0])
    array([0.5, 0. ])
    """
    at, centre = _same_shape(y=y, prediction=prediction)
    return np.asarray(np.abs(at - centre))


def quantile_excess(lower: ArrayLike, upper: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return the distance of y from the interval [lower, upper], negative inside it.

    Parameters
    ----------
    lower, upper : array_like of float, shape (n,) or ()
        Predicted quantiles.
    y : array_like of float, shape (n,) or ()
        Outcomes, in the units of the quantiles.

    Returns
    -------
    array of float, shape (n,) or ()
        Scores: `max(lower - y, y - upper)`.

    Examples
    --------
    >>> quantile_excess([1.0, 1.0], [3.0, 3.0], [4.0, 1.5])
    array([ 1. , -0.5])

    References
    ----------
    Romano, Patterson and Candès, "Conformalized Quantile Regression", NeurIPS 2019.
    """
    at, low, high = _same_shape(y=y, lower=lower, upper=upper)
    return np.maximum(low - at, at - high)


def _same_shape(**given: ArrayLike) -> list[FloatArray]:
    """Return arrays of the same shape: a column and a row would broadcast to a matrix."""
    arrays = {name: validation.numbers(name, values) for name, values in given.items()}
    shapes = {name: array.shape for name, array in arrays.items() if array.ndim}
    if len(set(shapes.values())) > 1:
        found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(
            f"{' and '.join(given)} must have the same shape, got {found}; flatten column vectors "
            "with ravel()."
        )
    return list(arrays.values())


def negative_probability(probabilities: ArrayLike) -> FloatArray:
    """Return `-p`, the score of an outcome with probability p.

    Parameters
    ----------
    probabilities : array_like of float
        Predicted probabilities, in [0, 1]; any shape.

    Returns
    -------
    array of float
        Scores in [-1, 0], in the same shape. A set {-p <= threshold} is {p >= -threshold}.

    Examples
    --------
    >>> negative_probability([0.2, 0.5])
    array([-0.2, -0.5])
    """
    return -_probabilities(probabilities)


def cumulative_probability(probabilities: ArrayLike) -> FloatArray:
    """Return, for each label, the total probability of the labels that are at least as likely.

    Labels with the same probability have the same score, and so enter a set together.

    Parameters
    ----------
    probabilities : array_like of float, shape (..., K)
        Predicted probability of each label.

    Returns
    -------
    array of float, shape (..., K)
        Scores in [0, 1].

    Examples
    --------
    >>> cumulative_probability([0.2, 0.5, 0.3])
    array([1. , 0.5, 0.8])

    References
    ----------
    Romano, Sesia and Candès, "Classification with Valid and Adaptive Coverage", NeurIPS 2020.
    """
    p = _probabilities(probabilities)
    if p.ndim == 0 or p.shape[-1] == 0:
        raise ValueError(f"probabilities must have one entry per label, got shape {p.shape}.")
    order = np.argsort(-p, axis=-1, kind="stable")
    sorted_p = np.take_along_axis(p, order, axis=-1)
    sums = np.minimum(np.cumsum(sorted_p, axis=-1), 1.0)  # rounding must not exceed 1
    scores = np.empty_like(p)
    np.put_along_axis(scores, order, _equal_for_ties(sorted_p, sums), axis=-1)
    return scores


def _equal_for_ties(sorted_p: FloatArray, sums: FloatArray) -> FloatArray:
    """Give labels of equal probability the sum at the last of them."""
    last = np.arange(sums.shape[-1]) + np.zeros(sums.shape, np.int64)
    last[..., :-1][sorted_p[..., :-1] == sorted_p[..., 1:]] = sums.shape[-1]
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    return np.take_along_axis(sums, last, axis=-1)


def _probabilities(values: ArrayLike) -> FloatArray:
    """Return an array of numbers in [0, 1]."""
    p = validation.numbers("probabilities", values)
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        raise ValueError(
            f"probabilities must lie in [0, 1], got {p.min()} to {p.max()}. "
            "Apply softmax or a sigmoid to logits first."
        )
    return p
