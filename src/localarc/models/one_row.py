"""One row as a dict of features, as river passes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from localarc.models import predictors
from localarc.models.kinds.base import SetKind
from localarc.models.kinds.labels import LabelKind
from localarc.sets import Interval, Intervals, LabelMatrix
from localarc.validation import shown


def require_row(x: Any) -> None:
    """Raise unless x is a row."""
    if not isinstance(x, Mapping) or not x:
        raise TypeError(
            f"x must be one row as a mapping from features to values, got {shown(x)}. For example "
            '{"hour": 7, "load": 0.3}; pass many rows to predict_interval, predict_set and update.'
        )


def predict(model: Any, x: Mapping[str, Any]) -> Any:
    """The model's prediction of one row."""
    require_row(x)
    if hasattr(model, "predict_one"):
        return model.predict_one(x)
    return predictors.call(model, as_rows(model, x))[0]


def output(model: Any, x: Mapping[str, Any], kind: SetKind) -> Any:
    """The model's output for one row, in the shape of a prediction made elsewhere."""
    require_row(x)
    if isinstance(kind, LabelKind):
        if hasattr(model, "predict_proba_one"):
            found = model.predict_proba_one(x)
            names = kind.classes
            if names is None:
                raise ValueError("pass classes=... to Calibrated: the order of the labels.")
            return np.array([[float(found.get(name, 0.0)) for name in names]])
        return predictors.probabilities(model, as_rows(model, x))
    if hasattr(model, "predict_one"):
        return np.array([model.predict_one(x)], float)
    return predictors.call(model, as_rows(model, x))


def as_rows(model: Any, x: Mapping[str, Any]) -> Any:
    """One row for a model that reads many: a frame if it was fitted with names, else an array."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return np.array([[*x.values()]])
    import pandas as pd  # what scikit-learn read the names from, most likely

    return pd.DataFrame([{name: x[name] for name in names}])


def only(found: Any) -> Any:
    """The set of the only row; a list for several levels."""
    if isinstance(found, Intervals):
        lower, upper = np.atleast_1d(found.lower[0]), np.atleast_1d(found.upper[0])
        made = [Interval(float(a), float(b), 0.0) for a, b in zip(lower, upper, strict=True)]
        return made[0] if np.ndim(found.lower) == 1 else made
    if isinstance(found, LabelMatrix):
        return found.labels[0]
    return found[0]
