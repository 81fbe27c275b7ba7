"""Prediction sets: what a threshold means for one prediction, with `y in set` and `.size`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.curves.scores import (
    cumulative_probability,
    negative_probability,
    quantile_excess,
    within,
)

__all__ = [
    "Interval",
    "LabelSet",
    "Mask",
    "interval",
    "interval_from_quantiles",
    "label_set",
    "mask",
]

_THRESHOLD_HINT = "Pass the threshold of a calibrator."


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


def interval(prediction: float, threshold: float) -> Interval:
    """Return the interval `prediction +- threshold`.

    Parameters
    ----------
    prediction : float
        Prediction of the model.
    threshold : float
        Threshold of the calibrator, in the units of the prediction.

    Returns
    -------
    Interval
        The set of all y with `|y - prediction| <= threshold`.

    Examples
    --------
    >>> interval(2.0, 0.5), 2.5 in interval(2.0, 0.5), interval(2.0, -0.1)
    (Interval(1.5, 2.5), True, Interval(empty))
    """
    centre = validation.finite("prediction", prediction, "Pass a finite number.")
    return interval_from_quantiles(centre, centre, threshold)


def interval_from_quantiles(lower: float, upper: float, threshold: float) -> Interval:
    """Return the interval between two quantiles, widened by the threshold.

    Parameters
    ----------
    lower, upper : float
        Predicted quantiles.
    threshold : float
        Threshold of the calibrator, in the units of the quantiles. A negative threshold narrows
        the interval.

    Returns
    -------
    Interval
        `[lower - threshold, upper + threshold]`.

    Examples
    --------
    >>> interval_from_quantiles(1.0, 3.0, 0.25)
    Interval(0.75, 3.25)
    """
    hint = "Pass finite numbers."
    margin = validation.finite("threshold", threshold, hint)
    low, high = validation.finite("lower", lower, hint), validation.finite("upper", upper, hint)
    return Interval(low, high, margin)


def label_set(
    probabilities: ArrayLike,
    threshold: float,
    labels: Sequence[Hashable] | None = None,
    score: Literal["probability", "cumulative"] = "probability",
) -> LabelSet:
    """Return the labels whose score is at most the threshold.

    Parameters
    ----------
    probabilities : array_like of float, shape (K,)
        Predicted probability of each label.
    threshold : float
        Threshold of the calibrator: in [-1, 0] for "probability", in [0, 1] for "cumulative".
    labels : sequence of hashable, optional
        Names of the labels. Default: 0 to K - 1.
    score : {"probability", "cumulative"}, default "probability"
        `curves.negative_probability` or `curves.cumulative_probability`.

    Returns
    -------
    LabelSet
        The labels in the set.

    Examples
    --------
    >>> label_set([0.2, 0.5, 0.3], threshold=-0.25)
    LabelSet({1, 2})
    >>> label_set([0.2, 0.5, 0.3], 0.8, labels=["ant", "bee", "cat"], score="cumulative")
    LabelSet({'bee', 'cat'})
    """
    kinds = {"probability": negative_probability, "cumulative": cumulative_probability}
    if score not in kinds:
        raise ValueError(f'score must be "probability" or "cumulative", got {score!r}.')
    scores = kinds[score](probabilities)
    if scores.ndim != 1:
        raise ValueError(f"probabilities must have one entry per label, got shape {scores.shape}.")
    names: Sequence[Hashable] = range(len(scores)) if labels is None else labels
    if len(names) != len(scores):
        raise ValueError(f"labels must name all {len(scores)} labels, got {len(names)} names.")
    limit = validation.finite("threshold", threshold, _THRESHOLD_HINT)
    chosen = [names[int(i)] for i in np.flatnonzero(within(scores, limit))]
    return LabelSet(tuple(y.item() if isinstance(y, np.generic) else y for y in chosen))


def mask(probabilities: ArrayLike, threshold: float) -> Mask:
    """Return the pixels whose score `-p` is at most the threshold.

    Parameters
    ----------
    probabilities : array_like of float
        Predicted probability of each pixel.
    threshold : float
        Threshold of the calibrator, in [-1, 0].

    Returns
    -------
    Mask
        The pixels with `p >= -threshold`.

    Examples
    --------
    >>> mask([[0.9, 0.2], [0.6, 0.1]], threshold=-0.5)
    Mask(2 of 2 x 2 pixels)
    """
    limit = validation.finite("threshold", threshold, _THRESHOLD_HINT)
    return Mask(within(negative_probability(probabilities), limit))
