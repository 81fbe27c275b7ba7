"""How a model is asked: an estimator, a function, a pair of them, or predictions made elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.tables.rows import Rows, values_of
from localarc.validation import FloatArray


class Predicts(Protocol):
    """An estimator with `predict`; classifiers have `predict_proba`, too."""

    def predict(self, X: Rows, /) -> ArrayLike:
        """The predictions of n rows."""


class LearnsOne(Protocol):
    """An estimator of river, with `predict_one` or `predict_proba_one`."""

    def learn_one(self, x: Any, y: Any, /) -> object:
        """Learn from one row."""


Model: TypeAlias = Predicts | LearnsOne | Callable[[Any], ArrayLike]
"""An estimator, or a function from rows to predictions."""


def call(model: Any, X: Any, method: str = "predict") -> NDArray[Any]:
    """The model's output for rows: of a method or, for a function, of a call."""
    if model is None:
        raise ValueError(
            "there is no model. Pass one to Calibrated, or prediction=... with every call."
        )
    if isinstance(model, type):
        raise TypeError(
            f"the model is the class {model.__name__}. Pass an object of it that is fitted."
        )
    asked = getattr(model, method, model)
    if not callable(asked):
        raise TypeError(
            f"the model must have {method} or be a function, got {type(model).__name__}."
        )
    try:
        return _array(asked(X))
    except Exception as error:
        error.add_note("The model raised this. Check that X has the rows and columns it expects.")
        raise


def _array(found: Any) -> NDArray[Any]:
    if isinstance(found, tuple) and len(found) == 2:  # a pair of quantiles
        return np.column_stack([values_of(part) for part in found])
    return values_of(found)


def prediction(model: Any, X: Any) -> FloatArray:
    """(n,) predictions, or (n, 2) quantiles of a pair of models or of one that returns both."""
    if isinstance(model, tuple | list):
        if len(model) != 2:
            raise ValueError(f"a pair of quantile models is (lower, upper), got {len(model)}.")
        return np.column_stack([_numbers(call(part, X)) for part in model])
    return _numbers(call(model, X))


def probabilities(model: Any, X: Any) -> FloatArray:
    """(n, K) probabilities of the classes."""
    return _numbers(call(model, X, "predict_proba"))


def standard_deviation(model: Any, X: Any) -> FloatArray:
    """(n,) the model's own standard deviation: `predict_std`, or `predict(X, return_std=True)`."""
    if hasattr(model, "predict_std"):
        return _numbers(call(model, X, "predict_std"))
    try:
        _, deviation = model.predict(X, return_std=True)
    except (TypeError, AttributeError) as error:
        raise TypeError(
            'difficulty="std" needs a model with predict_std(X) or predict(X, return_std=True), '
            f"{type(model).__name__} has neither. Pass an estimator of the error's size instead."
        ) from error
    return _numbers(values_of(deviation))


def _numbers(values: NDArray[Any]) -> FloatArray:
    return validation.numbers("the model's prediction", values)
