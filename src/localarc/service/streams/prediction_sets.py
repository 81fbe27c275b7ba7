"""Sets: what a stream's threshold means for the scores that came with an input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from localarc import sets
from localarc.curves.scores import within
from localarc.wire.config import IntervalConfig, LabelSetConfig
from localarc.wire.predictions import Interval, LabelSet

SetConfig = LabelSetConfig | IntervalConfig | None


def made_set(
    config: SetConfig, scores: list[float] | None, threshold: float
) -> LabelSet | Interval | None:
    """The set for one prediction, or None if no scores came."""
    if scores is None:
        return None
    if config is None:
        raise ValueError(
            "scores were sent, but the stream makes no sets: create it with set, or leave them out."
        )
    if isinstance(config, IntervalConfig):
        return _interval(scores, threshold)
    return _labels(config, scores, threshold)


def set_size(config: SetConfig, scores: list[float] | None, threshold: float) -> float | None:
    """The size of that set."""
    made = made_set(config, scores, threshold)
    return None if made is None else float(made.size)


def _interval(scores: list[float], threshold: float) -> Interval:
    if len(scores) > 2:
        raise ValueError(
            f"scores must be one prediction, or a lower and an upper one, got {len(scores)}."
        )
    made = sets.interval_from_quantiles(scores[0], scores[-1], threshold)
    return Interval(made.lower, made.upper, made.size)


def _labels(config: LabelSetConfig, scores: list[float], threshold: float) -> LabelSet:
    if config.labels is not None and len(scores) != len(config.labels):
        raise ValueError(
            f"scores must hold one number for each of {len(config.labels)} labels, got "
            f"{len(scores)}."
        )
    if config.score == "score":
        places = np.flatnonzero(within(scores, threshold)).tolist()
    else:
        chosen = sets.label_set(scores, threshold, score=config.score)
        places = [int(i) for i in chosen.labels]  # type: ignore[call-overload]
    names: Sequence[str | int] = range(len(scores)) if config.labels is None else config.labels
    return LabelSet(tuple(names[i] for i in places), len(places))
