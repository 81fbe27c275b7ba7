"""The rounds on which peers are compared with their authors' code, and a loop over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from localarc.validation import FloatArray

ALPHA = 0.1
ROUNDS = 600
PICKED = [0, 1, 10, 50, 100, 200, 300, 400, 500, 599]


def inputs_and_scores() -> tuple[FloatArray, FloatArray]:
    """Scores that grow with the first feature, and rise and fall with time."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(ROUNDS, 2))
    waves = 1.0 + 0.5 * np.sin(np.arange(ROUNDS) / 50)
    return X, np.abs(random.normal(size=ROUNDS)) * (0.3 + X[:, 0]) * waves


def group(t: int) -> int:
    return t % 3


def thresholds(calibrator: Any) -> FloatArray:
    """The thresholds of a peer on these rounds, where a miss costs 1."""
    X, scores = inputs_and_scores()
    found = np.empty(len(scores))
    for t, score in enumerate(scores.tolist()):
        mine = {"groups": group(t)} if "groups" in calibrator.learns_from else {}
        found[t] = calibrator.threshold(X[t], **mine)
        calibrator.update(X[t], float(score > found[t]), score=score, **mine)
    return found
