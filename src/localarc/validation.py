"""Input, checked once, at the edge: what was wrong, what was expected, what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

LARGEST = 1e100
"""Nothing larger in size is taken, so that squares and their sums stay finite."""

_FLOAT64 = np.dtype(np.float64)


def finite(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float, or say why it is not a finite number."""
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be a number, got the text {value!r}. {hint}")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {value!r}. {hint}") from error
    if not abs(number) <= LARGEST:
        raise ValueError(f"{name} must be finite, at most {LARGEST:g}, got {number}. {hint}")
    return number


def positive(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float above zero, and so far above that its inverse is a number, too."""
    number = finite(name, value, hint)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {number}. {hint}")
    if number < 1 / LARGEST:
        raise ValueError(f"{name} must be at least {1 / LARGEST:g}, got {number}. {hint}")
    return number


def not_negative(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float of at least zero."""
    number = finite(name, value, hint)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}. {hint}")
    return number


def integer(name: str, value: Any, least: int, hint: str) -> int:
    """Return `value` as an int of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(
            f"{name} must be a whole number of at least {least}, got {value!r}. {hint}"
        )
    return int(value)


def ascending_pair(values: Any, name: str = "score_range") -> tuple[float, float]:
    """Return two finite numbers, the smaller one first."""
    hint = "It is (smallest, largest) possible score, e.g. (0.0, 1.0)."
    try:
        low, high = (finite(name, value, hint) for value in values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be two numbers, got {values!r}. {hint}") from error
    if low > high:
        raise ValueError(f"{name} must be ascending, got {values!r}. {hint}")
    return low, high


def numbers(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as a float64 array without NaN, infinity or text."""
    array = _as_floats(name, values)
    if array.size and not (array.min() >= -LARGEST and array.max() <= LARGEST):
        flat = np.atleast_1d(array)
        where = np.argwhere(~(np.abs(flat) <= LARGEST))[0]
        raise ValueError(
            f"{name} must be finite, at most {LARGEST:g} in size, got {flat[tuple(where)]} at "
            f"{_place(where)}. Drop, impute or rescale such values before calibrating."
        )
    return array


def _as_floats(name: str, values: ArrayLike) -> FloatArray:
    if values is None:
        raise _no_numbers(name, values, "Leave nothing out.")
    if isinstance(values, Mapping):
        raise _no_numbers(name, values, "Pass the values of the dict in a fixed order.")
    try:
        raw = np.asarray(values)
        if raw.dtype.kind == "O" and not any(isinstance(v, str | bytes) for v in raw.ravel()):
            raw = raw.astype(np.float64)
    except (TypeError, ValueError) as error:
        advice = "Rows must have one length, and every entry a value."
        raise _no_numbers(name, values, advice) from error
    if raw.dtype.kind not in "biuf":
        raise _no_numbers(name, values, "Convert text, dates and categories first.")
    if np.ma.is_masked(values):
        raise TypeError(f"{name} must not be masked. Drop or impute what is missing.")
    return raw.astype(np.float64, copy=False)


def _no_numbers(name: str, values: Any, advice: str) -> TypeError:
    return TypeError(f"{name} must hold numbers only, got {values!r:.60}. {advice}")


def per_round(name: str, values: Any, rounds: int) -> list[Any]:
    """Return `values` as a list with one entry for each round."""
    try:
        listed = list(values)
    except TypeError as error:
        raise TypeError(f"{name} must hold one per round, got {values!r:.60}.") from error
    if len(listed) != rounds:
        raise ValueError(f"{name} must hold one per round, got {len(listed)} for {rounds} rounds.")
    return listed


def _place(where: IntArray) -> str:
    return f"position {where[0]}" if len(where) == 1 else f"position {tuple(where.tolist())}"


def is_single(x: Any) -> bool:
    """Whether x is one input, rather than many in an (n, d) array."""
    try:
        return (x.ndim if type(x) is np.ndarray else np.ndim(x)) <= 1
    except ValueError as error:
        raise _no_numbers("x", x, "Rows must have one length.") from error


def point(x: Any, dimension: int | None) -> FloatArray:
    """Return one input as a vector of `dimension` features (any number if None)."""
    if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == (dimension,) and _healthy(x):
        return x
    if x is None:
        raise TypeError("x must be one input of shape (d,), got None. Only ARC ignores inputs.")
    array = numbers("x", x)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.size == 0:
        raise ValueError(f"x must hold one feature at least, got shape {array.shape}.")
    if array.ndim != 1:
        raise ValueError(
            f"x must be one input of shape (d,), got shape {array.shape}. "
            "Update with one round at a time, or use partial_fit for many."
        )
    _same_dimension(array.size, dimension)
    return array


def _healthy(x: FloatArray) -> bool:
    # The usual case online, where a microsecond counts; NaN and infinity make the norm so too.
    return len(x) <= 16 and math.hypot(*x.tolist()) <= LARGEST


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
            f"inputs must have {expected} feature(s) here, got {found}. "
            f"Pass many inputs as an array of shape (n, {expected})."
        )


def loss(value: Any, bound: float) -> float:
    """Return the loss of a round, which must lie in [0, bound]."""
    if type(value) is float and 0.0 <= value <= bound:
        return value
    try:
        if isinstance(value, str | bytes):
            raise TypeError("text")
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
