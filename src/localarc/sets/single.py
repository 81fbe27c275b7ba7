"""The set of one prediction, with `y in set` and `.size`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localarc.curves.scores import quantile_excess, within


@dataclass(frozen=True, repr=False)
class Interval:
    """The interval [low_prediction - threshold, high_prediction + threshold].

    It is empty if the threshold is so negative that the ends cross. `y in interval` compares the
    score of y with the threshold, so rounding of the ends never makes an interval and its loss
    disagree. Build one with `interval` or `interval_from_quantiles`.

    Parameters
    ----------
    low_prediction, high_prediction : float
        Predicted quantiles, or twice the same prediction.
    threshold : float
        Threshold of the calibrator, in the units of the prediction.

    Examples
    --------
    >>> answer = Interval(1.0, 3.0, 0.25)
    >>> answer.lower, answer.upper, answer.size, 3.25 in answer
    (0.75, 3.25, 2.5, True)
    """

    low_prediction: float
    high_prediction: float
    threshold: float

    @property
    def lower(self) -> float:
        """The lower end."""
        return self.low_prediction - self.threshold

    @property
    def upper(self) -> float:
        """The upper end."""
        return self.high_prediction + self.threshold

    def __contains__(self, y: float) -> bool:
        score = quantile_excess(self.low_prediction, self.high_prediction, y)
        return bool(within(score, self.threshold))

    @property
    def size(self) -> float:
        """The width; 0 if the interval is empty."""
        return max(0.0, self.upper - self.lower)

    def __repr__(self) -> str:
        if self.lower > self.upper:
            return "Interval(empty)"
        return f"Interval({self.lower:.6g}, {self.upper:.6g})"


@dataclass(frozen=True)
class LabelSet:
    """A set of labels.

    Parameters
    ----------
    labels : tuple of hashable
        The labels in the set.

    Examples
    --------
    >>> answer = LabelSet(("bee", "cat"))
    >>> "bee" in answer, answer.size
    (True, 2)
    """

    labels: tuple[Hashable, ...]

    def __contains__(self, y: Hashable) -> bool:
        return y in self.labels

    @property
    def size(self) -> int:
        """The number of labels."""
        return len(self.labels)

    def __repr__(self) -> str:
        return f"LabelSet({{{', '.join(map(repr, self.labels))}}})"


@dataclass(frozen=True, eq=False)
class Mask:
    """A set of pixels; `(row, column) in mask` tests one of them.

    Parameters
    ----------
    pixels : array of bool
        Which pixels are in the set.

    Examples
    --------
    >>> answer = Mask(np.array([[True, False]]))
    >>> (0, 0) in answer, answer.size
    (True, 0.5)
    """

    pixels: NDArray[np.bool_]

    def __contains__(self, pixel: tuple[int, ...]) -> bool:
        return bool(self.pixels[pixel])

    @property
    def size(self) -> float:
        """The fraction of the image that the mask covers."""
        return float(self.pixels.mean())

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.pixels.shape))
        return f"Mask({int(self.pixels.sum())} of {shape} pixels)"
