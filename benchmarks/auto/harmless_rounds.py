"""Harmless rounds: 10,000 in which nothing can fail, then a model that is wrong half the time."""

from __future__ import annotations

import numpy as np

from benchmarks.auto.measured import Measured, at_most, plain, with_error
from localarc import ARC, AutoLARC
from localarc.calibrators.role import Calibrator
from localarc.validation import FloatArray

ALPHA = 0.1
EASY, HARD = 10_000, 2_000
WRONG = 0.49
SEEDS = range(5)


def measure() -> list[Measured]:
    rows = []
    for name, make in (("AutoLARC", lambda: AutoLARC(ALPHA)), ("ARC", lambda: ARC(ALPHA))):
        losses = np.array([run(make(), seed) for seed in SEEDS])[:, EASY:]
        for first in (500, HARD):
            values = losses[:, :first].mean(axis=1)
            what, text = f"{name}: loss of the first {first} hard rounds", with_error(values)
            stream = "harmless, then hard"
            if name == "AutoLARC":
                rows.append(at_most(stream, what, float(values.mean()), 0.12, text))
            else:
                rows.append(plain(stream, what, float(values.mean()), text))
    return rows


def run(calibrator: Calibrator, seed: int) -> FloatArray:
    """Answer where the confidence exceeds the threshold; an answer that is wrong costs 1."""
    random = np.random.default_rng(seed)
    n = EASY + HARD
    confidence, X = random.random(n), random.random((n, 2))
    wrong = (random.random(n) < WRONG) & (np.arange(n) >= EASY)
    losses = np.empty(n)
    for t in range(n):
        losses[t] = float(wrong[t] and confidence[t] > calibrator.threshold(X[t]))
        if isinstance(calibrator, AutoLARC):
            score = float(confidence[t]) if wrong[t] else -np.inf
            calibrator.update(X[t], losses[t], score=score)
        else:
            calibrator.update(X[t], losses[t])
    return losses
