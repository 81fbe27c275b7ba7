"""Base models of real streams: trained once on the first quarter, on NumPy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localarc.validation import FloatArray

TRAINING = 0.25
"""The share of the rows, the first ones, that train a base model and are no rounds."""

_PENALTY = 1.0
_SHRINKAGE = 0.1
_DIGITS = 6  # of predictions, so that all machines agree on every round


def training_rows(n: int) -> int:
    """Return how many of n rows train."""
    return round(TRAINING * n)


def ridge(X: FloatArray, y: FloatArray) -> FloatArray:
    """Return the predictions of ridge regression for the rows after the training rows.

    >>> X = np.arange(8.0)[:, None]
    >>> ridge(X, 2.0 * X[:, 0]).shape
    (6,)
    """
    first = training_rows(len(y))
    scaled = _standardized(X, first)
    centre = y[:first].mean()
    gram = scaled[:first].T @ scaled[:first] + _PENALTY * np.eye(X.shape[1])
    weights = np.linalg.solve(gram, scaled[:first].T @ (y[:first] - centre))
    return np.asarray((centre + scaled[first:] @ weights).round(_DIGITS))


def discriminant(X: FloatArray, labels: NDArray[np.int64], classes: int) -> FloatArray:
    """Return the probabilities of linear discriminant analysis, for rows after the training rows.

    The covariance is shrunk by a tenth towards a multiple of the identity; a class that is not in
    the training rows has probability 0.

    >>> X, labels = np.arange(8.0)[:, None] % 2, np.arange(8) % 2
    >>> discriminant(X, labels, classes=2).argmax(axis=1).tolist()
    [0, 1, 0, 1, 0, 1]
    """
    first = training_rows(len(labels))
    scaled = _standardized(X, first)
    seen, numbers, counts = np.unique(labels[:first], return_inverse=True, return_counts=True)
    means = np.array([scaled[:first][labels[:first] == each].mean(axis=0) for each in seen])
    within = scaled[:first] - means[numbers]
    covariance = (1.0 - _SHRINKAGE) * within.T @ within / first + _SHRINKAGE * np.eye(X.shape[1])
    weights = np.linalg.solve(covariance, means.T)
    logits = scaled[first:] @ weights - 0.5 * (means.T * weights).sum(axis=0)
    logits += np.log(counts / first)
    found = np.zeros((len(logits), classes))
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    found[:, seen] = (odds / odds.sum(axis=1, keepdims=True)).round(_DIGITS)
    return found


def _standardized(X: FloatArray, first: int) -> FloatArray:
    """Features with mean 0 and variance 1 in the training rows; constant ones become 0."""
    spread = X[:first].std(axis=0)
    return np.asarray((X - X[:first].mean(axis=0)) / np.where(spread > 0.0, spread, np.inf))
