"""Sets for people: what a threshold means for one prediction, with `y in set` and `.size`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.curves.scores import (
    cumulative_probability,
    negative_probability,
    quantile_excess,
    within,
)


@dataclass(frozen=True, repr=False)
class Interval:
    """All y at most `threshold` outside two predictions; empty when nothing is left between.

    Whether y is in is asked of its score, so that an interval and its loss never disagree by a
    rounding of its ends.
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
        """The width."""
        return max(0.0, self.upper - self.lower)

    def __repr__(self) -> str:
        if self.lower > self.upper:
            return "Interval(empty)"
        return f"Interval({self.lower:.6g}, {self.upper:.6g})"


@dataclass(frozen=True)
class LabelSet:
    """Some of the labels."""

    labels: tuple[Hashable, ...]

    def __contains__(self, y: Hashable) -> bool:
        return y in self.labels

    @property
    def size(self) -> int:
        """How many labels."""
        return len(self.labels)

    def __repr__(self) -> str:
        return f"LabelSet({{{', '.join(map(repr, self.labels))}}})"


@dataclass(frozen=True, eq=False)
class Mask:
    """Some of the pixels; `(row, column) in mask` asks for one."""

    pixels: NDArray[np.bool_]

    def __contains__(self, place: tuple[int, ...]) -> bool:
        return bool(self.pixels[place])

    @property
    def size(self) -> float:
        """The share of the image that is covered, so that images of all sizes compare."""
        return float(self.pixels.mean())

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.pixels.shape))
        return f"Mask({int(self.pixels.sum())} of {shape} pixels)"


def interval(prediction: float, threshold: float) -> Interval:
    """All y within the threshold of a prediction.

    >>> interval(2.0, 0.5), 2.5 in interval(2.0, 0.5), interval(2.0, -0.1)
    (Interval(1.5, 2.5), True, Interval(empty))
    """
    centre = validation.finite("prediction", prediction, "Give a finite number.")
    return interval_from_quantiles(centre, centre, threshold)


def interval_from_quantiles(lower: float, upper: float, threshold: float) -> Interval:
    """Two predicted quantiles, widened by the threshold, or narrowed if it is negative.

    >>> interval_from_quantiles(1.0, 3.0, 0.25)
    Interval(0.75, 3.25)
    """
    hint = "Give finite numbers."
    margin = validation.finite("threshold", threshold, hint)
    low, high = validation.finite("lower", lower, hint), validation.finite("upper", upper, hint)
    return Interval(low, high, margin)


def label_set(
    probabilities: ArrayLike,
    threshold: float,
    labels: Sequence[Hashable] | None = None,
    score: Literal["probability", "cumulative"] = "probability",
) -> LabelSet:
    """The labels whose score is at most the threshold.

    A probability p scores -p, so thresholds lie in [-1, 0]; "cumulative" scores a label by the
    probability of all labels at least as likely, so thresholds lie in [0, 1].

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
        raise ValueError(f"probabilities must be one per label, got shape {scores.shape}.")
    names: Sequence[Any] = range(len(scores)) if labels is None else labels
    if len(names) != len(scores):
        raise ValueError(f"labels must name {len(scores)} labels, got {len(names)}.")
    limit = validation.finite("threshold", threshold, "Give a calibrator's threshold.")
    chosen = [names[int(i)] for i in np.flatnonzero(within(scores, limit))]
    return LabelSet(tuple(y.item() if isinstance(y, np.generic) else y for y in chosen))


def mask(probabilities: ArrayLike, threshold: float) -> Mask:
    """The pixels whose score -p is at most the threshold.

    >>> mask([[0.9, 0.2], [0.6, 0.1]], threshold=-0.5)
    Mask(2 of 2 x 2 pixels)
    """
    limit = validation.finite("threshold", threshold, "Give a calibrator's threshold.")
    return Mask(within(negative_probability(probabilities), limit))
