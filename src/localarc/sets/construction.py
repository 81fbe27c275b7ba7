"""Sets from predictions and thresholds: of one round from numbers, of many from arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.curves.scores import cumulative_probability, negative_probability, within
from localarc.sets.arrays import Intervals, LabelMatrix
from localarc.sets.single import Interval, LabelSet, Mask
from localarc.tables import frames
from localarc.tables.frames import Rows
from localarc.validation import FloatArray

_THRESHOLD_HINT = "Pass the threshold of a calibrator."


@overload
def interval(prediction: float, threshold: float) -> Interval: ...
@overload
def interval(prediction: NDArray[np.floating], threshold: ArrayLike) -> Intervals: ...
def interval(prediction: ArrayLike, threshold: ArrayLike) -> Interval | Intervals:
    """Return the interval `prediction +- threshold`, or the intervals of n predictions.

    A threshold of infinity, as calibrators return before they know scores, gives the full set.

    Parameters
    ----------
    prediction : float, or array or series of shape (n,)
        Prediction of the model.
    threshold : float, or array or series of shape (n,)
        Threshold of the calibrator, in the units of the prediction.

    Returns
    -------
    Interval or Intervals
        The set of all y with `|y - prediction| <= threshold`, for each prediction. The ends are
        series, with pandas' index, if the predictions are a series.

    Examples
    --------
    >>> interval(2.0, 0.5), 2.5 in interval(2.0, 0.5), interval(2.0, -0.1)
    (Interval(1.5, 2.5), True, Interval(empty))
    >>> interval(2.0, float("inf"))
    Interval(-inf, inf)
    >>> lower, upper = interval(np.array([1.0, 2.0]), np.array([0.5, 0.25]))
    >>> lower, upper
    (array([0.5 , 1.75]), array([1.5 , 2.25]))
    """
    if np.ndim(prediction):
        centres = validation.numbers("prediction", prediction)
        return _intervals(centres, centres, threshold, frames.rows_of(prediction, threshold))
    centre = validation.finite("prediction", prediction, "Pass a finite number.")
    margin = validation.threshold(threshold, _THRESHOLD_HINT)
    return Interval(centre, centre, margin)


@overload
def interval_from_quantiles(lower: float, upper: float, threshold: float) -> Interval: ...
@overload
def interval_from_quantiles(
    lower: NDArray[np.floating], upper: NDArray[np.floating], threshold: ArrayLike
) -> Intervals: ...
def interval_from_quantiles(
    lower: ArrayLike, upper: ArrayLike, threshold: ArrayLike
) -> Interval | Intervals:
    """Return the interval between two quantiles, widened by the threshold; or n of these.

    Parameters
    ----------
    lower, upper : float, or arrays or series of shape (n,)
        Predicted quantiles.
    threshold : float, or array or series of shape (n,)
        Threshold of the calibrator, in the units of the quantiles. A negative threshold narrows
        the interval.

    Returns
    -------
    Interval or Intervals
        `[lower - threshold, upper + threshold]`; series if the quantiles are.

    Examples
    --------
    >>> interval_from_quantiles(1.0, 3.0, 0.25)
    Interval(0.75, 3.25)
    """
    if np.ndim(lower):
        ends = validation.numbers("lower", lower), validation.numbers("upper", upper)
        return _intervals(*ends, threshold, frames.rows_of(lower, upper, threshold))
    hint = "Pass finite numbers."
    margin = validation.threshold(threshold, _THRESHOLD_HINT)
    low, high = validation.finite("lower", lower, hint), validation.finite("upper", upper, hint)
    return Interval(low, high, margin)


def _intervals(
    low: FloatArray, high: FloatArray, threshold: ArrayLike, rows: Rows | None
) -> Intervals:
    margins = validation.thresholds(threshold)
    if low.ndim != 1 or high.shape != low.shape or margins.shape not in ((), low.shape):
        raise ValueError(
            "predictions and thresholds must be one number per row, got shapes "
            f"{low.shape}, {high.shape} and {margins.shape}."
        )
    ends = low - margins, high + margins
    if rows is None:
        return Intervals(*ends)
    return Intervals(rows.series("lower", ends[0]), rows.series("upper", ends[1]))


@overload
def label_set(
    probabilities: ArrayLike,
    threshold: float,
    labels: Sequence[Hashable] | None = None,
    score: Literal["probability", "cumulative"] = "probability",
) -> LabelSet: ...
@overload
def label_set(
    probabilities: ArrayLike,
    threshold: NDArray[np.floating],
    labels: Sequence[Hashable] | None = None,
    score: Literal["probability", "cumulative"] = "probability",
) -> LabelMatrix: ...
def label_set(
    probabilities: ArrayLike,
    threshold: ArrayLike,
    labels: Sequence[Hashable] | None = None,
    score: Literal["probability", "cumulative"] = "probability",
) -> LabelSet | LabelMatrix:
    """Return the labels whose score is at most the threshold, of one round or of n rounds.

    Parameters
    ----------
    probabilities : array_like of float, shape (K,), or (n, K) or a frame for n rounds
        Predicted probability of each label; the columns of a frame are the labels.
    threshold : float, or array or series of shape (n,) for n rounds
        Threshold of the calibrator: in [-1, 0] for "probability", in [0, 1] for "cumulative".
    labels : sequence of hashable, optional
        Names of the labels. Default: the columns of a frame, or 0 to K - 1.
    score : {"probability", "cumulative"}, default "probability"
        `curves.negative_probability` or `curves.cumulative_probability`.

    Returns
    -------
    LabelSet or LabelMatrix
        The labels in the set, or in each set; `to_frame` has the index of a frame.

    Examples
    --------
    >>> label_set([0.2, 0.5, 0.3], threshold=-0.25)
    LabelSet({1, 2})
    >>> label_set([0.2, 0.5, 0.3], 0.8, labels=["ant", "bee", "cat"], score="cumulative")
    LabelSet({'bee', 'cat'})
    >>> label_set([[0.2, 0.5, 0.3], [0.9, 0.1, 0.0]], np.array([-0.25, -0.25])).labels
    [(1, 2), (0,)]
    """
    kinds = {"probability": negative_probability, "cumulative": cumulative_probability}
    if score not in kinds:
        raise ValueError(f'score must be "probability" or "cumulative", got {score!r}.')
    rows, columns = frames.rows_of(probabilities, threshold), frames.columns_of(probabilities)
    scores = kinds[score](frames.features(probabilities))
    several = bool(np.ndim(threshold))
    if scores.ndim != 1 + several:
        raise ValueError(f"probabilities must have one entry per label, got shape {scores.shape}.")
    names: Sequence[Hashable] = columns or range(scores.shape[-1])
    names = names if labels is None else labels
    if len(names) != scores.shape[-1]:
        raise ValueError(f"labels must name all {scores.shape[-1]} labels, got {len(names)} names.")
    if several:
        limits = validation.thresholds(threshold)
        if limits.shape != scores.shape[:1]:
            raise ValueError(f"threshold must be one number per row, got shape {limits.shape}.")
        members = within(scores, limits[:, None])
        return LabelMatrix(members, np.array(names), _as_frame(rows, names))
    limit = validation.threshold(threshold, _THRESHOLD_HINT)
    chosen = [names[int(i)] for i in np.flatnonzero(within(scores, limit))]
    return LabelSet(tuple(y.item() if isinstance(y, np.generic) else y for y in chosen))


def _as_frame(
    rows: Rows | None, names: Sequence[Hashable]
) -> Callable[[NDArray[np.bool_]], object] | None:
    """Return what makes a frame of members, if rows came in one: a boolean column per label."""
    if rows is None:
        return None
    return lambda members: rows.frame({str(name): members[:, k] for k, name in enumerate(names)})


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
    limit = validation.threshold(threshold, _THRESHOLD_HINT)
    return Mask(within(negative_probability(probabilities), limit))
