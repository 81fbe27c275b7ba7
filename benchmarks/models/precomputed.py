"""Estimators that return predictions made before, so that all methods see the same ones."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from localarc.validation import FloatArray


class FirstColumn(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor whose prediction is the first feature."""

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(X)[:, 0]


class FirstColumns(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are the first features."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes
        self.classes_ = classes

    def fit(self, X: FloatArray, y: NDArray[Any]) -> Self:
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        return np.asarray(X)[:, : len(self.classes_)]

    def predict(self, X: FloatArray) -> NDArray[Any]:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
