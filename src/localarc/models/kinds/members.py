"""Masks and rankings: which pixels or items to return so that few true ones are missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from localarc import validation
from localarc.curves import Curves, false_negatives, negative_probability
from localarc.models import predictors
from localarc.models.kinds.base import Outputs, SetKind
from localarc.validation import FloatArray


@dataclass(frozen=True)
class MemberKind(SetKind):
    """`{i : score_i <= g}` among the pixels or items of a row; the loss is the share missed.

    "masks" scores a pixel by its probability, "ranking" an item by its relevance, any number, and
    "top-k" by its rank, so that the threshold is the number of items returned. Rows may differ in
    shape. With a coverage of 0.9, 90 % of what is true in a row is found on average: the recall.

    References
    ----------
    Angelopoulos, Bates, Fisch, Lei and Schuster, *Conformal risk control*, ICLR 2024.
    """

    by: Literal["masks", "ranking", "top-k"] = "masks"
    counts_misses = False

    def outputs(self, model: Any, X: Any, given: Any) -> Outputs:
        """n arrays of scores, one per pixel or item."""
        found = predictors.call(model, X) if given is None else given
        rows = np.empty(len(found), object)
        for t, row in enumerate(found):
            rows[t] = self._scores(t, row)
        return rows

    def _scores(self, t: int, row: Any) -> FloatArray:
        values = validation.numbers(f"the prediction of row {t}", row)
        if values.ndim == 0 or values.size == 0:
            raise ValueError(f"the prediction of row {t} must have a number per pixel or item.")
        if self.by == "masks":
            return negative_probability(values)
        if self.by == "ranking":
            return -values
        ranks = np.empty(values.shape)
        ranks.ravel()[np.argsort(-values, axis=None, kind="stable")] = np.arange(1, values.size + 1)
        return ranks

    def place(self, outputs: Outputs) -> FloatArray:
        """The best score; for "top-k" the number of items."""
        ends = [row.max() if self.by == "top-k" else row.min() for row in outputs]
        return np.array(ends, float).reshape(-1, 1)

    def curves(self, outputs: Outputs, y: Any) -> tuple[Curves, ...]:
        """The share of true pixels or items that is missed."""
        return (false_negatives(list(outputs), list(y)),)

    def sets(self, outputs: Outputs, thresholds: FloatArray) -> Any:
        """(n, ..., levels) members, or a list of these if rows differ in shape."""
        rows = [
            row[..., None] <= levels[:, 0] for row, levels in zip(outputs, thresholds, strict=True)
        ]
        if not rows:
            return np.empty((0, thresholds.shape[1]), bool)
        same = len({row.shape for row in rows}) == 1
        return np.array(rows) if same else rows

    def sizes(self, sets: Any) -> FloatArray:
        """The number of members; for masks their share."""
        return np.array([self._size(row) for row in sets])

    def _size(self, row: NDArray[np.bool_]) -> FloatArray:
        flat = row.reshape(-1, row.shape[-1])
        found: FloatArray = flat.mean(axis=0) if self.by == "masks" else flat.sum(axis=0)
        return found
