"""Together: many calibrators over one stream, sharing what their kernels have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.calibrators.larc import LARC
from localarc.kernels import Stationary
from localarc.memory import KeepAll, LossCurves, Played
from localarc.memory.compiled_expansion import Compiled
from localarc.validation import FloatArray

Result = tuple[FloatArray, FloatArray]


def follow_many(
    calibrators: Sequence[LARC], points: FloatArray, curves: LossCurves, single: bool = False
) -> list[Result]:
    """Thresholds and losses of each calibrator, as if each followed the stream alone.

    New calibrators that keep all terms of one kernel evaluate it together, and those whose length
    scales differ by a factor share the distances. `single` evaluates the kernel in float32.
    """
    found: dict[int, Result] = {}
    for together in _alike(calibrators, points.shape[1]).values():
        if len(points) and (len(together) > 1 or single):
            results = _together(calibrators, together, points, curves, single)
            found |= dict(zip(together, results, strict=True))
    return [
        found[i] if i in found else calibrator.follow(points, curves, None, lambda done: None)
        for i, calibrator in enumerate(calibrators)
    ]


def _alike(calibrators: Sequence[LARC], dimension: int) -> dict[Any, list[int]]:
    """The calibrators that can share distances, by kernel, the longest length scales first."""
    groups: dict[Any, list[int]] = {}
    for i, calibrator in enumerate(calibrators):
        kernel = calibrator.settings.kernel
        if isinstance(kernel, Stationary) and calibrator.rounds == 0:
            memory = calibrator.settings.memory.chosen(kernel, dimension)
            if isinstance(memory, KeepAll):
                lengths = np.atleast_1d(kernel.denominator)
                unit = tuple((lengths / lengths[0]).tolist())
                key = kernel.replace(unit, 1.0)
                groups.setdefault(key, []).append(i)
    for together in groups.values():
        together.sort(key=lambda i: -_length(calibrators[i]))
    return groups


def _length(calibrator: LARC) -> float:
    return float(np.atleast_1d(getattr(calibrator.settings.kernel, "denominator"))[0])  # noqa: B009


def _together(
    calibrators: Sequence[LARC],
    chosen: Sequence[int],
    points: FloatArray,
    curves: LossCurves,
    single: bool,
) -> list[Result]:
    from localarc import engine

    mine = [calibrators[i] for i in chosen]
    rounds = [each.rounds_ahead(points, curves) for each in mine]
    locals_ = [each.local for each in mine]
    expansions = [local for local in locals_ if isinstance(local, Compiled)]
    streams = [local.stream(r) for local, r in zip(expansions, rounds, strict=True)]
    ratios = [_length(mine[0]) / _length(each) for each in mine]
    try:
        inner = [each.inner for each in expansions]
        all_played = engine.replay_many(inner, streams, ratios, single)
    except BaseException:
        for each in mine:
            each.reset()
        raise
    return [
        each.take_over(r, Played(played.thresholds, played.losses, played.norm))
        for each, r, played in zip(mine, rounds, all_played, strict=True)
    ]
