"""Inputs and scores as AutoLARC accepts them: features may be missing, scores infinite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from localarc import validation
from localarc.validation import LARGEST, FloatArray

NO_FEATURES: FloatArray = np.empty(0)


def features(x: Any, dimension: int | None) -> tuple[FloatArray, tuple[int, ...]]:
    """One input of `dimension` features (any number if None), and which are missing, NaN."""
    if x is None:
        x = NO_FEATURES
    array = _numbers_or_missing("x", x)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim != 1:
        raise ValueError(f"x must be one input of shape (d,), got shape {array.shape}.")
    _check_dimension(array.size, dimension)
    return array, tuple(np.flatnonzero(np.isnan(array)).tolist())


def many_features(X: Any, dimension: int | None) -> FloatArray:
    """Inputs as an (n, d) array; d may be 0, and NaN marks a missing feature."""
    array = _numbers_or_missing("X", X)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(
            f"X must have shape (n, d), got {array.shape}. "
            "Put one round in each row and one feature in each column."
        )
    _check_dimension(array.shape[1], dimension)
    return np.require(array, np.float64, ["C", "W"])


def _numbers_or_missing(name: str, values: Any) -> FloatArray:
    """A float64 array in which only NaN may be out of range."""
    try:
        raw = np.asarray(values)
        if raw.dtype.kind == "O" and not any(isinstance(v, str | bytes) for v in raw.ravel()):
            raw = raw.astype(np.float64)
    except (TypeError, ValueError):
        raw = np.empty(0, "U1")  # let `validation` say what is wrong with it
    if raw.dtype.kind != "f" or np.ma.is_masked(values):
        return validation.numbers(name, values)
    validation.numbers(name, np.where(np.isnan(raw), 0.0, raw))
    return raw.astype(np.float64, copy=False)


def _check_dimension(found: int, expected: int | None) -> None:
    if expected is not None and found != expected:
        raise ValueError(
            f"inputs must have {expected} feature(s), as the first one had, got {found}. "
            "Write NaN for a feature that is missing."
        )


def score(value: Any) -> float:
    """A score: any number or infinity; NaN where it is unknown (None)."""
    if type(value) is float and -LARGEST <= value <= LARGEST:
        return value
    if value is None:
        return math.nan
    if isinstance(value, float | np.floating) and math.isinf(value):
        return float(value)
    return validation.finite("score", value, "Pass None if it is unknown.")
