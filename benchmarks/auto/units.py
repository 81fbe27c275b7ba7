"""Units: scores and features in thousandths or in thousands make no decision differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.auto import streams
from benchmarks.auto.measured import Measured, at_most
from benchmarks.auto.streams import Work
from localarc import AutoLARC, replay
from localarc.curves import miscoverage
from localarc.validation import FloatArray

FACTORS = (1e-3, 1e3)


def measure() -> list[Measured]:
    works = (
        streams.electricity(),
        streams.heavy_tails(),
        streams.synthetic(False),
        streams.synthetic(True),
    )
    return [row for work in works for row in _differences(work)]


def _differences(work: Work) -> list[Measured]:
    scores = streams.scores_of(work)
    before = _losses(work, scores)
    rows = []
    for factor in FACTORS:
        for what, changed, units in (
            ("scores", work, scores * factor),
            ("features", replace(work, X=work.X * factor), scores),
        ):
            differ = int(np.sum(_losses(changed, units) != before))
            rows.append(
                at_most(work.name, f"decisions that differ, {what} x {factor:g}", differ, 0)
            )
    return rows


def _losses(work: Work, scores: FloatArray) -> FloatArray:
    curves = miscoverage(scores)
    return replay(AutoLARC(work.alpha), work.X, curves).losses
