"""Rows to start from: their first half fits the difficulty, if it needs fitting."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from localarc.models import difficulty as difficulties
from localarc.models import predictors
from localarc.models.kinds import IntervalKind
from localarc.models.kinds.base import SetKind
from localarc.models.kinds.intervals import given_prediction
from localarc.tables.rows import values_of


class StartingRows(NamedTuple):
    """Rows whose outcomes are known."""

    X: Any
    y: Any
    prediction: Any = None  # made elsewhere, if the model is not to be called


def fit_difficulty(
    kind: SetKind, model: Any, difficulty: Any, rows: StartingRows
) -> tuple[IntervalKind, StartingRows]:
    """The kind with a difficulty that was fitted to the first half of rows, and the other half."""
    y = values_of(rows.y)
    half = len(y) // 2
    if not isinstance(kind, IntervalKind) or half < 1:
        raise ValueError("a difficulty needs intervals, and at least two rows to start from.")
    given = None if rows.prediction is None else given_prediction(rows.prediction)
    first, rest = _split(rows.X, half)
    plain = replace(kind, difficulty=None)
    outputs = plain.outputs(model, first, None if given is None else given[:half])
    errors = np.asarray(y[:half], float) - plain.place(outputs)[:, 0]
    fitted = difficulties.fit(difficulty, first, errors)
    least = difficulties.least_scale(predictors.prediction(fitted, first))
    others = StartingRows(rest, y[half:], None if given is None else given[half:])
    return replace(plain, difficulty=fitted, least_scale=least), others


def _split(X: Any, at: int) -> tuple[Any, Any]:
    """The first rows and the others, of a frame or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:at], X.iloc[at:]
    return X[:at], X[at:]
