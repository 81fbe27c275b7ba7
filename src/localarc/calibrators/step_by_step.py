"""Any calibrator over rounds whose curves are known: compiled where it can be, else in a loop."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from localarc.calibrators.base import Progress
from localarc.calibrators.role import Calibrator
from localarc.memory.base import LossCurve, LossCurves
from localarc.validation import FloatArray


def replay_curves(
    calibrator: Calibrator,
    points: FloatArray,
    curves: LossCurves,
    groups: list[Hashable] | None,
    progress: Progress,
) -> tuple[FloatArray, FloatArray]:
    """Thresholds and losses of one calibrator, ours or a user's."""
    fast = getattr(calibrator, "replay_curves", None)
    if fast is not None:
        thresholds, losses = fast(points, curves, groups, progress)
        return thresholds, losses
    steps = [
        play_round(calibrator, x, curves[t], groups[t] if groups else None)
        for t, x in enumerate(_reported(points, progress))
    ]
    thresholds, losses = np.array(steps).reshape(-1, 3)[:, :2].T
    return thresholds, losses


def _reported(points: FloatArray, progress: Progress) -> Any:
    for x in points:
        yield x
        progress(1)


def play_round(
    calibrator: Calibrator, x: Any, curve: LossCurve, groups: Hashable
) -> tuple[float, float, float]:
    """Threshold, loss and set size of one round, after which the calibrator is updated."""
    wanted = getattr(calibrator, "learns_from", ())
    where = {"groups": groups} if "groups" in wanted else {}
    threshold = _number(calibrator.threshold(x, **where))
    loss = curve.loss(threshold)
    more: dict[str, Any] = dict(where)
    if "curve" in wanted:
        more["curve"] = curve
    if "score" in wanted:
        more["score"] = curve.min_threshold(calibrator.alpha)
    calibrator.update(x, loss, **more)
    return threshold, loss, curve.size(threshold)


def _number(threshold: Any) -> float:
    try:
        number = float(threshold)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"threshold must return one number for one input, got {threshold!r:.60}."
        ) from error
    if math.isnan(number) or number == -math.inf:
        raise ValueError(
            f"threshold must return a number, or infinity for the full set, got {number}. For the "
            "empty set, return the smallest score that is possible."
        )
    return number
