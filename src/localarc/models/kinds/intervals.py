"""Intervals around a prediction or between two quantiles: both sides alike, each, or one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from localarc import validation
from localarc.curves import Curves, miscoverage
from localarc.models import predictors
from localarc.models.kinds.base import Outputs, SetKind
from localarc.sets import Intervals
from localarc.tables.rows import values_of
from localarc.validation import FloatArray

Sides = Literal["symmetric", "asymmetric", "lower", "upper"]
_TAILS: dict[str, tuple[str, ...]] = {
    "symmetric": ("",),
    "asymmetric": ("lower", "upper"),
    "lower": ("lower",),
    "upper": ("upper",),
}
_LOW, _HIGH, _SCALE = range(3)


@dataclass(frozen=True)
class IntervalKind(SetKind):
    """`[low - g scale, high + g scale]`, with one threshold g for both ends, or one for each.

    Around one prediction, low and high are the same. "lower" and "upper" have one finite end.

    References
    ----------
    Romano, Patterson and Candès, *Conformalized quantile regression*, NeurIPS 2019 (two quantiles).
    Papadopoulos, Gammerman and Vovk, *Normalized nonconformity measures*, 2008 (the scale).
    """

    sides: Sides = "symmetric"
    difficulty: Any = None  # "std", an estimator or a function; None: all rows are alike
    least_scale: float = 0.0  # what an estimated difficulty is raised to

    @property
    def tails(self) -> tuple[str, ...]:  # type: ignore[override]
        """The ends that have a threshold of their own."""
        return _TAILS[self.sides]

    def outputs(self, model: Any, X: Any, given: Any) -> Outputs:
        """(n, 3): low, high, scale."""
        found = predictors.prediction(model, X) if given is None else given_prediction(given)
        if found.ndim == 1 or found.shape[1:] == (1,):
            found = np.column_stack([found, found])
        if found.ndim != 2 or found.shape[1] != 2:
            raise ValueError(
                f"intervals need one prediction per row, or two quantiles, got shape {found.shape}."
            )
        if (found[:, _LOW] > found[:, _HIGH]).any():
            found = np.sort(found, axis=1)  # quantiles that cross
        return np.column_stack([found, self._scale(model, X, len(found))])

    def _scale(self, model: Any, X: Any, rows: int) -> FloatArray:
        if self.difficulty is None:
            return np.ones(rows)
        if isinstance(self.difficulty, str):
            found = predictors.standard_deviation(model, X)
        else:
            found = predictors.prediction(self.difficulty, X)
        if found.shape != (rows,):
            raise ValueError(f"the difficulty must be one number per row, got {found.shape}.")
        scale = np.maximum(found, self.least_scale)
        if (scale <= 0.0).any():
            raise ValueError(
                f"the difficulty must be positive, got {scale.min()}. Pass an estimate of the "
                "error's size, or call warm_up, which sets a smallest value."
            )
        return scale

    def place(self, outputs: Outputs) -> FloatArray:
        """The middle of the prediction."""
        return 0.5 * (outputs[:, [_LOW]] + outputs[:, [_HIGH]])

    def curves(self, outputs: Outputs, y: Any) -> tuple[Curves, ...]:
        """Miscoverage of each tail."""
        at = validation.numbers("y", values_of(y))
        if at.shape != (len(outputs),):
            column = " Pass a single column, e.g. y[:, 0]." if at.ndim > 1 else ""
            raise ValueError(
                f"y must have one number per row, got shape {at.shape} for {len(outputs)} row(s)."
                f"{column}"
            )
        below = (outputs[:, _LOW] - at) / outputs[:, _SCALE]
        above = (at - outputs[:, _HIGH]) / outputs[:, _SCALE]
        scores = {"": np.maximum(below, above), "lower": below, "upper": above}
        return tuple(miscoverage(scores[tail]) for tail in self.tails)

    def sets(self, outputs: Outputs, thresholds: FloatArray) -> Intervals:
        """Intervals of shape (n,) or, for several levels, (n, levels)."""
        low, high, scale = (outputs[:, [i]] for i in range(3))
        unbounded = np.full(thresholds.shape[:2], np.inf)
        first, last = thresholds[:, :, 0], thresholds[:, :, -1]
        lower = -unbounded if self.sides == "upper" else low - first * scale
        upper = unbounded if self.sides == "lower" else high + last * scale
        return Intervals(lower, upper)

    def sizes(self, sets: Intervals) -> FloatArray:
        """Widths."""
        return sets.sizes


def given_prediction(prediction: Any) -> FloatArray:
    """Predictions made elsewhere: (n,) or (n, 2); a tuple is a pair of quantiles."""
    if isinstance(prediction, tuple):
        return np.column_stack([validation.numbers("prediction", values_of(p)) for p in prediction])
    return validation.numbers("prediction", values_of(prediction))
