"""Streams of wrapped models: a base model trained on the first rows, then rows it never saw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from localarc.validation import FloatArray

TRAINING = 0.25  # share of the rows on which the base model is trained
CALIBRATION = 0.10  # share that every method receives with its labels, before the stream
MOST_CALIBRATION = 1000  # rows
LEFT_OUT = 0.05  # share of the first rows that each further draw leaves out


@dataclass(frozen=True)
class Rows:
    """A table in the order of its stream: features, outcomes, and a column of groups."""

    X: pd.DataFrame
    y: NDArray[Any]
    groups: NDArray[Any] | None = None

    def take(self, rows: Any) -> Rows:
        """Select rows."""
        groups = None if self.groups is None else self.groups[rows]
        return Rows(self.X.iloc[rows].reset_index(drop=True), self.y[rows], groups)


@dataclass(frozen=True)
class Origin:
    """The package that carries a table, and the terms of use."""

    package: str
    licence: str


@dataclass(frozen=True)
class Source:
    """A stream as it is declared: its rows, base model, local features, groups and licence."""

    name: str
    load: Callable[[], Rows]
    model: Callable[[], Any]  # a scikit-learn estimator, not trained
    local: tuple[str, ...]
    origin: Origin
    groups: str = ""  # what they are
    shuffled: bool = False  # rows without an order of their own


@dataclass(frozen=True)
class Case:
    """What every method receives: predictions of the trained model, and outcomes.

    The first `calibration` rows may be used with their outcomes before the stream begins.
    """

    name: str
    predictions: FloatArray  # (n,) numbers, or (n, classes) probabilities
    y: NDArray[Any]
    local: FloatArray  # (n, d)
    names: tuple[str, ...]  # of the local features
    groups: NDArray[Any] | None
    calibration: int
    classes: NDArray[Any] | None = None  # of a classifier

    def __len__(self) -> int:
        return len(self.y) - self.calibration

    def stream(self, values: NDArray[Any]) -> NDArray[Any]:
        """The values of the rows after those for calibration."""
        return values[self.calibration :]

    def reorder(self, rows: NDArray[np.int64]) -> Case:
        """The given rows in that order, of which the first are for calibration."""
        return replace(
            self,
            predictions=self.predictions[rows],
            y=self.y[rows],
            local=self.local[rows],
            groups=None if self.groups is None else self.groups[rows],
        )


@dataclass(frozen=True)
class Trained:
    """A base model and the rows after those on which it was trained."""

    source: Source
    model: Any
    rest: Rows
    calibration: int
    spread: pd.Series  # of the training features

    def case(self, X: pd.DataFrame | None = None, name: str = "") -> Case:
        """The stream, or the one in which the model sees other features."""
        classes = getattr(self.model, "classes_", None)
        predict = self.model.predict if classes is None else self.model.predict_proba
        return Case(
            name or self.source.name,
            np.asarray(predict(self.rest.X if X is None else X), dtype=np.float64),
            self.rest.y,
            self.rest.X[[*self.source.local]].to_numpy(np.float64),
            self.source.local,
            self.rest.groups,
            self.calibration,
            classes,
        )


def train(source: Source, rounds: int, draw: int = 0) -> Trained:
    """Train the base model on the first quarter; the stream has at most `rounds` rows."""
    rows = drawn(source, draw)
    if rounds < (1.0 - TRAINING - CALIBRATION) * len(rows.y):
        rows = rows.take(spread_out(len(rows.y), round(rounds / (1.0 - TRAINING - CALIBRATION))))
    first, known = parts(len(rows.y))
    training, rest = rows.take(slice(first)), rows.take(slice(first, first + known + rounds))
    model = source.model().fit(training.X, training.y)
    if hasattr(model, "classes_"):  # a label that the model never saw cannot be predicted
        rest = rest.take(np.flatnonzero(np.isin(rest.y, model.classes_)))
    return Trained(source, model, rest, known, training.X.std())


def parts(n: int) -> tuple[int, int]:
    """The numbers of rows for training and for calibration."""
    return round(TRAINING * n), min(round(CALIBRATION * n), MOST_CALIBRATION)


def drawn(source: Source, draw: int) -> Rows:
    """The rows of a draw: another order, or without the first ones if they have an order."""
    rows = source.load()
    n = len(rows.y)
    if source.shuffled:
        return rows.take(np.random.default_rng(draw).permutation(n))
    return rows.take(slice(round(LEFT_OUT * draw * n), None))


def spread_out(n: int, rows: int) -> NDArray[np.int64]:
    """About so many of n rows, equally far from each other."""
    return np.arange(0, n, max(n // rows, 1))


def table(columns: Sequence[str], frame: pd.DataFrame) -> pd.DataFrame:
    """Columns as numbers; text as the number of its rank in the alphabet."""
    found = frame[[*columns]].copy()
    for name in found.columns:
        if not pd.api.types.is_numeric_dtype(found[name]):
            found[name] = np.unique(found[name].astype(str), return_inverse=True)[1]
    return found.astype(np.float64)
