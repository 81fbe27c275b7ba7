"""Many calibrators over one stream, sharing the evaluation of their kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.calibrators.larc import LARC
from localarc.kernels import Stationary
from localarc.memory import KeepAll
from localarc.memory.base import LossCurves, Played
from localarc.memory.compiled_expansion import CompiledExpansion
from localarc.validation import FloatArray

Result = tuple[FloatArray, FloatArray]


def replay_many_curves(
    calibrators: Sequence[LARC], points: FloatArray, curves: LossCurves, single: bool = False
) -> list[Result]:
    """Thresholds and losses of each calibrator, as if each ran over the stream alone.

    New calibrators that keep all terms of one kernel evaluate it together, and those whose length
    scales differ by a factor share the distances. `single` evaluates the kernel in float32.
    """
    found: dict[int, Result] = {}
    for together in _alike(calibrators, points.shape[1]).values():
        if len(points) and (len(together) > 1 or single):
            results = _together(calibrators, together, points, curves, single)
            found |= dict(zip(together, results, strict=True))
    return [
        found[i]
        if i in found
        else calibrator.replay_curves(points, curves, None, lambda done: None)
        for i, calibrator in enumerate(calibrators)
    ]


def _silent(done: int) -> None:
    """Report no progress."""


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
    prepared = [calibrator._prepare_rounds(points, curves) for calibrator in mine]
    rounds = [part for _, part in prepared]
    expansions = [local for local, _ in prepared if isinstance(local, CompiledExpansion)]
    streams = [local.stream(part) for local, part in zip(expansions, rounds, strict=True)]
    ratios = [_length(mine[0]) / _length(calibrator) for calibrator in mine]
    try:
        inner = [expansion.inner for expansion in expansions]
        all_played = engine.replay_many(inner, streams, ratios, single)
    except BaseException:
        for calibrator in mine:
            calibrator.reset()
        raise
    results = [
        calibrator._commit(part, Played(played.thresholds, played.losses, played.norm))
        for calibrator, part, played in zip(mine, rounds, all_played, strict=True)
    ]
    for calibrator, (thresholds, losses) in zip(mine, results, strict=True):
        calibrator._look_back(thresholds, losses, curves)
    return results
