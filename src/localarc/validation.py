"""Input validation: errors name the argument, the rule and the value received."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

LARGEST = 1e100
"""Largest accepted magnitude, so that squares and their sums stay finite."""

_FLOAT64 = np.dtype(np.float64)


def real(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float, which may be infinite or NaN."""
    if isinstance(value, str | bytes):
        raise TypeError(f"{name} must be a number, got the text {value!r:.60}. {hint}")
    if isinstance(value, np.ma.MaskedArray):
        require_unmasked(name, value)
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(
            f"{name} must be at most {LARGEST:g} in magnitude, got {shown(value)}. {hint}"
        ) from error
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a number, got {shown(value)}. {hint}") from error


def shown(value: Any) -> str:
    """Return the beginning of `repr(value)`."""
    try:
        text = repr(value)
    except ValueError:  # Python prints no integer of more than 4300 digits
        return f"{type(value).__name__} with an integer of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def finite(name: str, value: Any, hint: str) -> float:
    """Return `value` as a finite float."""
    number = real(name, value, hint)
    if not abs(number) <= LARGEST:
        raise ValueError(f"{name} must be finite, at most {LARGEST:g}, got {number}. {hint}")
    return number


def threshold(value: Any, hint: str) -> float:
    """Return a threshold as a float: finite, or +inf for the full set."""
    number = real("threshold", value, hint)
    return number if number == math.inf else finite("threshold", number, hint)


def thresholds(values: ArrayLike) -> FloatArray:
    """Return thresholds as a float64 array: finite, or +inf for full sets."""
    array = floats("threshold", values)
    full = np.isposinf(array)
    numbers("threshold", np.where(full, 0.0, array))
    return array


def positive(name: str, value: Any, hint: str) -> float:
    """Return `value` as a positive float whose inverse is finite too."""
    number = finite(name, value, hint)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {number}. {hint}")
    if number < 1 / LARGEST:
        raise ValueError(f"{name} must be at least {1 / LARGEST:g}, got {number}. {hint}")
    return number


def not_negative(name: str, value: Any, hint: str) -> float:
    """Return `value` as a float that is not negative."""
    number = finite(name, value, hint)
    if number < 0:
        raise ValueError(f"{name} must not be negative, got {number}. {hint}")
    return number


def integer(name: str, value: Any, minimum: int, hint: str, maximum: float = LARGEST) -> int:
    """Return `value` as an int of at least `minimum`; a float is none, as in NumPy."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
        whole = isinstance(value, float) and value.is_integer()
        advice = f"A float is not accepted: pass int({value!r}). " if whole else ""
        raise ValueError(
            f"{name} must be a whole number of at least {minimum}, got {shown(value)}. "
            f"{advice}{hint}"
        )
    if value > maximum:
        raise ValueError(f"{name} must be at most {maximum:g}, got {shown(value)}. {hint}")
    return int(value)


def flag(name: str, value: Any, hint: str) -> bool:
    """Return `value` as a bool; text such as "no" would be true."""
    if isinstance(value, bool | np.bool_) or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {shown(value)}. {hint}")


def require_order(name: str, values: Any) -> None:
    """Raise for collections without the caller's order, and for text."""
    if isinstance(values, set | frozenset | dict | str | bytes):
        raise TypeError(
            f"{name} must be in a fixed order, got the {type(values).__name__} {shown(values)}. "
            "Pass a list, a tuple or an array."
        )


def sequence(name: str, values: Any, rule: str) -> list[Any]:
    """Return `values` as a list; `rule` continues "name must"."""
    require_order(name, values)
    try:
        return list(values)
    except TypeError as error:
        raise TypeError(
            f"{name} must {rule}, got {shown(values)}. Pass a list, a tuple or an array."
        ) from error


def ascending_pair(values: Any, name: str = "score_range") -> tuple[float, float]:
    """Return two finite numbers in ascending order."""
    hint = "It is the (smallest, largest) possible score, e.g. (0.0, 1.0)."
    require_order(name, values)
    try:
        low, high = (finite(name, value, hint) for value in values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be two numbers, got {shown(values)}. {hint}") from error
    if low > high:
        raise ValueError(f"{name} must be ascending, got {values!r}. {hint}")
    return low, high


def numbers(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as a float64 array without NaN, infinity or text."""
    array = floats(name, values)
    if array.size and not (array.min() >= -LARGEST and array.max() <= LARGEST):
        flat = np.atleast_1d(array)
        where = np.argwhere(~(np.abs(flat) <= LARGEST))[0]
        raise ValueError(
            f"{name} must be finite, at most {LARGEST:g} in magnitude, got {flat[tuple(where)]} "
            f"at {_position(where)}. Drop, impute or rescale such values before calibrating."
        )
    return array


def floats(name: str, values: ArrayLike) -> FloatArray:
    """Return `values` as float64, converting neither text nor missing values."""
    if values is None:
        raise _not_numbers(name, values, "A value is required.")
    if isinstance(values, Mapping):
        raise _not_numbers(name, values, "Pass the values of the dict in a fixed order.")
    require_unmasked(name, values)
    try:
        raw = np.asarray(values)
        if raw.dtype.kind == "O" and not any(isinstance(v, str | bytes) for v in raw.ravel()):
            raw = raw.astype(np.float64)
    except OverflowError as error:
        raise ValueError(
            f"{name} must be finite, at most {LARGEST:g} in magnitude, got {shown(values)}. "
            "Drop, impute or rescale such values before calibrating."
        ) from error
    except (TypeError, ValueError) as error:
        advice = "All rows must have the same length, without missing values."
        raise _not_numbers(name, values, advice) from error
    if raw.dtype.kind not in "biuf":
        raise _not_numbers(name, values, "Convert text, dates and categories to numbers first.")
    return raw.astype(np.float64, copy=False)


def require_unmasked(name: str, values: Any) -> None:
    """Raise if any entry is masked: NumPy would use the number behind the mask, or NaN."""
    if _has_masked(values):
        raise TypeError(f"{name} must not be masked. Drop or impute missing values.")


def _has_masked(values: Any) -> bool:
    """Return whether an array, or an array somewhere in nested sequences, has masked entries."""
    if type(values) is np.ndarray and values.dtype.kind == "O":
        values = values.ravel().tolist()
    if not isinstance(values, list | tuple):
        return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))
    kinds = set(map(type, values))  # a list of a million floats has one kind
    nested = any(issubclass(kind, list | tuple | np.ma.MaskedArray) for kind in kinds)
    return nested and any(map(_has_masked, values))


def _not_numbers(name: str, values: Any, advice: str) -> TypeError:
    """Return the error of values that are not numbers."""
    return TypeError(f"{name} must contain only numbers, got {shown(values)}. {advice}")


def distinct_columns(name: str, frame: Any) -> None:
    """Raise if a frame has two columns of one name: nothing says which of them is meant."""
    columns = getattr(frame, "column_names", getattr(frame, "columns", ()))  # of pyarrow; of others
    if not isinstance(columns, list | tuple) and not hasattr(columns, "duplicated"):
        return  # no frame
    names = list(columns)
    for column in names:
        if names.count(column) > 1:
            raise ValueError(
                f"{name} must have distinct columns, got {names.count(column)} of the name "
                f"{column!r}. Rename or drop all but one of them."
            )


def per_round(name: str, values: Any, rounds: int) -> list[Any]:
    """Return `values` as a list with one entry per round."""
    listed = sequence(name, values, "have one entry per round")
    if len(listed) != rounds:
        raise ValueError(
            f"{name} must have one entry per round, got {len(listed)} for {rounds} rounds."
        )
    return listed


def labels(groups: Any) -> tuple[Hashable, ...]:
    """Return the groups of one round: a list, a set or {group: weight} is several."""
    if isinstance(groups, list | set | frozenset | dict):
        several = [group for group in groups if not isinstance(groups, dict) or groups[group] > 0]
    else:
        several = [groups]
    return tuple(each.item() if isinstance(each, np.generic) else each for each in several)


def rounds_by_group(groups: Iterable[Any]) -> dict[Hashable, list[int]]:
    """Return the rounds of each group, counted from 0; groups may overlap."""
    rounds: dict[Hashable, list[int]] = {}
    for t, each in enumerate(groups):
        for group in labels(each):
            rounds.setdefault(group, []).append(t)
    return rounds


def _position(where: IntArray) -> str:
    """Describe an index into an array."""
    return f"position {where[0]}" if len(where) == 1 else f"position {tuple(where.tolist())}"


def is_single(x: Any) -> bool:
    """Return whether x is a single input rather than an (n, d) array of inputs."""
    try:
        return (x.ndim if type(x) is np.ndarray else np.ndim(x)) <= 1
    except ValueError as error:
        raise _not_numbers("x", x, "All rows must have the same length.") from error


def point(x: Any, dimension: int | None) -> FloatArray:
    """Return one input as a vector of `dimension` features (any number of them if None)."""
    if type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == (dimension,) and _is_finite(x):
        return x
    if x is None:
        raise TypeError("x must be one input of shape (d,), got None. Only ARC ignores inputs.")
    array = numbers("x", x)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.size == 0:
        raise ValueError(f"x must have at least one feature, got shape {array.shape}.")
    if array.ndim != 1:
        raise ValueError(
            f"x must be one input of shape (d,), got shape {array.shape}. "
            "Update one round at a time, or use partial_fit for many."
        )
    _same_dimension(array.size, dimension)
    return array


def _is_finite(x: FloatArray) -> bool:
    """Return whether a short vector is finite, in less than a microsecond."""
    # NaN and infinity propagate to the norm.
    return len(x) <= 16 and math.hypot(*x.tolist()) <= LARGEST


def points(X: ArrayLike, dimension: int | None = None, min_features: int = 1) -> FloatArray:
    """Return inputs as an (n, d) array; a vector is n inputs with one feature each."""
    array = numbers("X", X)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] < min_features:
        raise ValueError(
            f"X must have shape (n, d) with d >= {min_features}, got {array.shape}. "
            "Put one round in each row and one feature in each column."
        )
    _same_dimension(array.shape[1], dimension)
    return np.ascontiguousarray(array)


def _same_dimension(found: int, expected: int | None) -> None:
    """Raise unless inputs have the expected number of features."""
    if expected is not None and found != expected:
        raise ValueError(
            f"inputs must have {expected} feature(s), got {found}. "
            f"Pass many inputs as an array of shape (n, {expected})."
        )


def target(alpha: Any, bound: float) -> float:
    """Return the target of a calibrator, which must lie in (0, bound)."""
    number = finite("alpha", alpha, "It is the average loss you accept, e.g. 0.1.")
    if not 0.0 < number < bound:
        raise ValueError(
            f"alpha must lie strictly between 0 and the loss bound {bound}, got {number}. "
            "It is the average loss you accept in the long run, e.g. 0.1."
        )
    return number


def loss(value: Any, bound: float, bound_name: str = "loss_bound") -> float:
    """Return the loss of a round, which must lie in [0, bound]."""
    if type(value) is float and 0.0 <= value <= bound:
        return value
    number = real("loss", value, f"It is the loss of one round, in [0, {bound:g}].")
    if not 0.0 <= number <= bound:  # NaN fails this test too
        raise ValueError(
            f"loss must lie between 0 and the loss bound {bound}, got {number}. "
            f"Rescale the loss, or set {bound_name} to its largest possible value."
        )
    return number
