"""Prediction sets: from a threshold and the scores of a request to an interval or labels.

What can be wrong with a request is wrong at every threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from localarc import sets
from localarc.curves.scores import cumulative_probability, negative_probability, within
from localarc.validation import FloatArray
from localarc_client.wire.config_parts import IntervalConfig, LabelSetConfig, SetConfig
from localarc_client.wire.predictions import Interval, LabelSet

_SCORES: dict[str | None, Callable[[list[float]], FloatArray]] = {
    "probability": negative_probability,
    "cumulative": cumulative_probability,
}


def prediction_set(
    config: SetConfig | None, scores: list[float] | None, threshold: float
) -> LabelSet | Interval | None:
    """The set of one prediction, or None if the request had no scores."""
    if scores is None:
        return None
    if config is None:
        raise ValueError(
            "scores were sent, but the stream has no prediction sets: create it with set, or omit "
            "scores."
        )
    if isinstance(config, IntervalConfig):
        return _interval(scores, threshold)
    return _labels(config, scores, threshold)


def set_size(
    config: SetConfig | None, scores: list[float] | None, threshold: float
) -> float | None:
    """The size of that set."""
    found = prediction_set(config, scores, threshold)
    return None if found is None else float(found.size)


def _interval(scores: list[float], threshold: float) -> Interval:
    if len(scores) > 2:
        raise ValueError(
            f"scores must be one prediction, or a lower and an upper quantile, got {len(scores)}."
        )
    interval = sets.Interval(scores[0], scores[-1], threshold)
    return Interval(interval.lower, interval.upper, interval.size)


def _labels(config: LabelSetConfig, scores: list[float], threshold: float) -> LabelSet:
    if config.labels is not None and len(scores) != len(config.labels):
        raise ValueError(
            f"scores must have one entry for each of the {len(config.labels)} labels, got "
            f"{len(scores)}."
        )
    score = _SCORES.get(config.score, np.asarray)
    positions = np.flatnonzero(within(score(scores), threshold)).tolist()
    names: Sequence[str | int] = range(len(scores)) if config.labels is None else config.labels
    return LabelSet(tuple(names[i] for i in positions), len(positions))
