"""Difficulty: an estimate of the size of the model's error, by which scores are divided."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from localarc.validation import FloatArray

_LEAST = 0.05  # of the median: an estimate near 0 would make intervals vanish


def needs_fit(difficulty: Any) -> bool:
    """Whether it is an estimator that has not been fitted."""
    if difficulty is None or isinstance(difficulty, str) or not hasattr(difficulty, "fit"):
        return False
    try:
        check_is_fitted(difficulty)
    except NotFittedError:
        return True
    return False


def fit(difficulty: Any, X: Any, errors: FloatArray) -> Any:
    """A clone, fitted to the size of errors."""
    return clone(difficulty).fit(X, np.abs(errors))


def least_scale(scales: FloatArray) -> float:
    """The smallest scale that is used."""
    return _LEAST * float(np.median(np.abs(scales)))
