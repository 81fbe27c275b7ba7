"""Sets of labels from class probabilities, by one of four scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from localarc import validation
from localarc.curves import (
    Curves,
    cumulative_probability,
    miscoverage,
    negative_probability,
)
from localarc.models import predictors
from localarc.models.kinds.base import Outputs, SetKind
from localarc.sets import LabelMatrix
from localarc.tables.rows import values_of
from localarc.validation import FloatArray, IntArray

LabelScore = Literal["probability", "aps", "raps", "margin"]
_FREE_LABELS, _PENALTY = 5, 0.01  # k_reg and lambda of RAPS
_LEAST = 1e-6  # added to probabilities, so that 0 and 1 have finite log-odds


@dataclass(frozen=True)
class LabelKind(SetKind):
    """`{y : score(x, y) <= g}`, with scores from the model's probabilities.

    "probability" is the log-odds against y, `log((1 - p) / p)`: the order of `-p(y)`, on a scale on
    which unlikely labels lie apart, so that a threshold that moves a little admits few of them.
    "aps" is the total probability of the labels at least as likely; "raps" the same with 0.01 added
    for every label after the fifth; "margin" the probability of the most likely other label, less
    `p(y)`.

    References
    ----------
    Sadinle, Lei and Wasserman, *Least ambiguous set-valued classifiers*, JASA 2019 (probability).
    Romano, Sesia and Candès, *Classification with valid and adaptive coverage*, NeurIPS 2020 (aps).
    Angelopoulos, Bates, Jordan and Malik, *Uncertainty sets for image classifiers using conformal
    prediction*, ICLR 2021 (raps).
    """

    score: LabelScore = "probability"
    classes: tuple[Any, ...] | None = None

    def outputs(self, model: Any, X: Any, given: Any) -> Outputs:
        """(n, K) scores of all labels."""
        if given is None:
            found = predictors.probabilities(model, X)
        else:
            found = validation.numbers("prediction", values_of(given))
        if found.ndim != 2 or found.shape[1] < 2:
            raise ValueError(
                "label sets need one probability per row and class, got shape "
                f"{found.shape}. Pass a model with predict_proba, or prediction=... of that shape."
            )
        if self.classes is not None and found.shape[1] != len(self.classes):
            raise ValueError(
                f"there are {len(self.classes)} classes and {found.shape[1]} probabilities."
            )
        return label_scores(found, self.score)

    def nothing(self) -> Any:
        """The probabilities of no rows; None, so that the model is asked, if it has no classes."""
        return None if self.classes is None else np.empty((0, len(self.classes)))

    def names(self, outputs: Outputs) -> NDArray[Any]:
        """The classes, in the order of the columns."""
        if self.classes is None:
            return np.arange(outputs.shape[1])
        return np.array(self.classes)

    def place(self, outputs: Outputs) -> FloatArray:
        """The score of the most likely label: how sure the model is."""
        return np.asarray(outputs.min(axis=1, keepdims=True))

    def columns_of(self, outputs: Outputs, y: Any) -> IntArray:
        """The column of each true label."""
        at = {name: k for k, name in enumerate(self.names(outputs).tolist())}
        labels = values_of(y).tolist()
        if not isinstance(labels, list) or len(labels) != len(outputs):
            raise ValueError(f"y must have one label per row, {len(outputs)} rows.")
        unknown = [label for label in labels if label not in at]
        if unknown:
            raise ValueError(
                f"label {unknown[0]!r} is not one of the classes {[*at]!r:.200}. The model "
                "gives no probability to other labels: leave such rows out, or, if only the names "
                "differ, pass classes=... in the order of the probabilities."
            )
        return np.array([at[label] for label in labels], np.int64)

    def curves(self, outputs: Outputs, y: Any) -> tuple[Curves, ...]:
        """Miscoverage of the true label."""
        columns = self.columns_of(outputs, y)
        return (miscoverage(outputs[np.arange(len(columns)), columns]),)

    def sets(self, outputs: Outputs, thresholds: FloatArray) -> LabelMatrix:
        """(n, K, levels); thresholds of shape (n, levels, 1), or (n, levels, K) for each label."""
        members = outputs[:, :, None] <= np.swapaxes(thresholds, 1, 2)
        return LabelMatrix(members, self.names(outputs))

    def sizes(self, sets: LabelMatrix) -> FloatArray:
        """The number of labels."""
        return sets.sizes.astype(float)


def label_scores(probabilities: FloatArray, score: LabelScore) -> FloatArray:
    """(n, K) scores of all labels."""
    if score == "probability":
        return _log_odds_against(probabilities)
    if score == "margin":
        p = -negative_probability(probabilities)  # checked
        two = np.partition(p, -2, axis=1)[:, -2:]
        other = np.where(p == two[:, 1:], two[:, :1], two[:, 1:])
        return np.asarray(other - p)
    sums = cumulative_probability(probabilities)
    if score == "aps":
        return sums
    rank = (probabilities[:, None, :] >= probabilities[:, :, None]).sum(axis=2)
    penalty: FloatArray = _PENALTY * np.maximum(0.0, rank - _FREE_LABELS)
    return sums + penalty


def _log_odds_against(probabilities: FloatArray) -> FloatArray:
    p = -negative_probability(probabilities)  # checked
    return np.asarray(np.log(1.0 - p + _LEAST) - np.log(p + _LEAST))
