"""Outcomes: the loss and the score of a prediction whose true value or label became known."""

from __future__ import annotations

import numpy as np

from localarc.curves.scores import (
    cumulative_probability,
    negative_probability,
    quantile_excess,
    within,
)
from localarc.validation import FloatArray
from localarc_client.wire.config import StreamConfig
from localarc_client.wire.config_parts import IntervalConfig, LabelSetConfig
from localarc_service.stored.format import Pending


def loss_and_score(
    config: StreamConfig, pending: Pending, outcome: float | str
) -> tuple[float, float]:
    """The loss of the set that was returned, a miss costs the loss bound; and the score."""
    if config.set is None or pending.scores is None:
        raise ValueError(
            "y requires a prediction set: create the stream with set and send scores with the "
            "prediction, or report the loss."
        )
    scores = np.frombuffer(pending.scores, "<f8")
    if isinstance(config.set, IntervalConfig):
        found = _interval(scores, outcome)
    else:
        found = _label(config.set, scores, outcome)
    return 0.0 if within(found, pending.threshold) else config.loss_bound, found


def _interval(scores: FloatArray, outcome: float | str) -> float:
    if isinstance(outcome, str):
        raise ValueError(f"y of an interval is a number, got {outcome!r}.")
    return float(quantile_excess(scores[0], scores[-1], outcome))


def _label(config: LabelSetConfig, scores: FloatArray, outcome: float | str) -> float:
    position = _position(config.labels, len(scores), outcome)
    if config.score == "probability":
        return float(negative_probability(scores)[position])
    if config.score == "cumulative":
        return float(cumulative_probability(scores)[position])
    return float(scores[position])


def _position(labels: list[str] | None, count: int, outcome: float | str) -> int:
    if labels is not None:
        if outcome in labels:
            return labels.index(str(outcome))
        raise ValueError(f"y must be one of the labels of the stream's set, got {outcome!r}.")
    if isinstance(outcome, str) or outcome not in range(count):
        raise ValueError(
            f"labels have no names: y must be a position from 0 to {count - 1}, got {outcome!r}."
        )
    return int(outcome)
