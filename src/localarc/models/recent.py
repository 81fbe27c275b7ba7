"""Recent: the latest scores, and the sets that their quantile would have made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.models.kinds.base import Outputs, SetKind
from localarc.running.size_ratio import WINDOW, rolling_quantiles
from localarc.validation import FloatArray, IntArray


class Recent:
    """The latest 500 scores of each level and tail.

    Parameters
    ----------
    alphas : sequence of sequences of float
        The target of each level and tail.
    scores : array of shape (n, levels, tails), optional
        The scores so far.
    """

    def __init__(self, alphas: Sequence[Sequence[float]], scores: FloatArray | None = None) -> None:
        self._alphas = alphas
        self.scores = np.empty((0, len(alphas), len(alphas[0]))) if scores is None else scores

    def add(self, scores: FloatArray) -> Recent:
        """These and the scores of further rows."""
        return Recent(self._alphas, np.concatenate([self.scores, scores])[-WINDOW:])

    def sizes(self, kind: SetKind, outputs: Outputs, scores: FloatArray, rows: IntArray) -> Any:
        """(rows, levels) sizes of some of the rows by a rolling quantile; NaN where unbounded.

        `scores` are those of all rows, in the order in which they are learned.
        """
        if not len(rows):
            return np.empty((0, len(self._alphas)))
        found = np.empty((len(rows), *self.scores.shape[1:]))
        for level, alphas in enumerate(self._alphas):
            for tail, alpha in enumerate(alphas):
                earlier, now = self.scores[:, level, tail], scores[:, level, tail]
                found[:, level, tail] = rolling_quantiles(now, 1.0 - alpha, earlier)[1][rows]
        finite = np.isfinite(found)
        sizes = kind.sizes(kind.sets(outputs[rows], np.where(finite, found, 0.0)))
        return np.where(finite.all(axis=2), sizes, np.nan)

    def clear(self) -> None:
        """Forget the scores: those of another model lie elsewhere."""
        self.scores = self.scores[:0]

    def restore(self, scores: FloatArray) -> None:
        """Continue with stored scores."""
        if scores.shape[1:] != self.scores.shape[1:]:
            raise ValueError("its latest scores have other levels")
        self.scores = scores.copy()
