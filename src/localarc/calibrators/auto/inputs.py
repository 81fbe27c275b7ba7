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
    except (TypeError, ValueError, OverflowError):
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


def many_losses(values: Any, rounds: int, bound: float) -> FloatArray:
    """One loss per round, in [0, bound]."""
    losses = _per_round("losses", validation.numbers("losses", values), rounds)
    wrong = (losses < 0.0) | (losses > bound)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"losses must lie between 0 and the loss bound {bound}, got {losses[row]} in row {row}."
            " Rescale the losses, or set loss_bound to their largest possible value."
        )
    return losses


def many_scores(values: Any, rounds: int | None) -> FloatArray:
    """One score per round (any number of rounds if None): NaN where it is unknown."""
    if values is None and rounds is not None:
        return np.full(rounds, np.nan)
    scores = _per_round("scores", validation.floats("scores", values), rounds)
    _check_size("scores", scores)
    return scores


def shown_levels(values: Any, rounds: int) -> FloatArray:
    """The least threshold that was shown in each round, minus infinity where any was."""
    if values is None:
        return np.full(rounds, -np.inf)
    levels = _per_round("at_least", validation.floats("at_least", values), rounds)
    if np.isnan(levels).any():
        raise ValueError(
            f"at_least must be known, got NaN in row {int(np.argmax(np.isnan(levels)))}. "
            "Pass minus infinity where nothing else was shown."
        )
    return levels


def place_for(out: Any, rounds: int) -> FloatArray:
    """Where to write a threshold for each round."""
    if out is None:
        return np.empty(rounds)
    if not isinstance(out, np.ndarray) or (out.dtype, out.shape) != (np.float64, (rounds,)):
        raise ValueError(f"out must be an array of {rounds} float64, got {validation.shown(out)}.")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError("out must be contiguous and writable; pass np.empty(n).")
    return out


def _per_round(name: str, array: FloatArray, rounds: int | None) -> FloatArray:
    expected = (len(array) if array.ndim else 0) if rounds is None else rounds
    if array.shape != (expected,):
        count = "one number per round" if rounds is None else f"{rounds} numbers, one per round"
        raise ValueError(f"{name} must have {count}, got shape {array.shape}.")
    return np.require(array, np.float64, ["C", "W"])


def _check_size(name: str, array: FloatArray) -> None:
    wrong = np.isfinite(array) & (np.abs(array) > LARGEST)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{name} must be at most {LARGEST:g} in magnitude, or infinite, got {array[row]} in "
            f"row {row}."
        )
