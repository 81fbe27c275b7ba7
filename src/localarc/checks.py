"""Input, checked once, at the edge: what was wrong, what was expected, what to do."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
_FLOAT64 = np.dtype(np.float64)


def finite(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float, or say why it is not a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}. {hint}") from error
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}. {hint}")
    return number


def positive(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float above zero."""
    number = finite(name, value, hint)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {number}. {hint}")
    return number


def not_negative(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float of at least zero."""
    number = finite(name, value, hint)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}. {hint}")
    return number


def whole(name: str, value: Any, least: int, hint: str) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(
            f"{name} must be a whole number of at least {least}, got {value!r}. {hint}"
        )
    return int(value)


def numbers(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as a float64 array without NaN or infinity."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold numbers only: {error}.") from error
    with np.errstate(invalid="ignore", over="ignore"):
        healthy = math.isfinite(array.sum())  # only if every term is: one pass in the usual case
    if not healthy and not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(np.atleast_1d(array)))[0]
        raise ValueError(
            f"{name} must be finite, got {np.atleast_1d(array)[tuple(where)]} at "
            f"{_place(where)}. Drop or impute such rows before calibrating."
        )
    return array


def _place(where: IntArray) -> str:
    return f"position {where[0]}" if len(where) == 1 else f"position {tuple(where.tolist())}"


def point(x: ArrayLike | None, dimension: int | None) -> FloatArray:
    """Return one input as a vector of `dimension` features (any number if None)."""
    if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == (dimension,) and _healthy(x):
        return x
    if x is None:
        raise TypeError("x must be one input of shape (d,), got None. Only ARC ignores inputs.")
    array = numbers("x", x)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"x must be one input of shape (d,), got shape {array.shape}. "
            "Update with one round at a time, or use partial_fit for many."
        )
    _same_dimension(array.size, dimension)
    return array


def _healthy(x: FloatArray) -> bool:
    # The usual case online, where a microsecond counts: a plain sum beats NumPy's when short.
    return len(x) <= 16 and math.isfinite(sum(x.tolist()))


def points(X: ArrayLike, dimension: int | None = None) -> FloatArray:
    """Return many inputs as an (n, d) array; a vector is read as n inputs of one feature."""
    array = numbers("X", X)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"X must have shape (n, d) with d of at least 1, got {array.shape}. "
            "Put one round in each row and one feature in each column."
        )
    _same_dimension(array.shape[1], dimension)
    return np.ascontiguousarray(array)


def _same_dimension(found: int, expected: int | None) -> None:
    if expected is not None and found != expected:
        raise ValueError(
            f"x must have {expected} feature(s) as in earlier rounds, got {found}. "
            f"Pass many inputs as an array of shape (n, {expected})."
        )


def loss(value: Any, bound: float) -> float:
    """Return the loss of a round, which must lie in [0, bound]."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"loss must be a number between 0 and the loss bound {bound}, got {value!r}. "
            "Pass the loss of one round."
        ) from error
    if not 0.0 <= number <= bound:  # also refuses NaN
        raise ValueError(
            f"loss must lie between 0 and the loss bound {bound}, got {number}. "
            "Rescale the loss, or set loss_bound to its largest possible value."
        )
    return number
