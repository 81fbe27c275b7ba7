"""Streams: losses of many of them, round by round, that keep their promise or break it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from localarc import ARC, AutoLARC, replay
from localarc.curves import miscoverage
from localarc.validation import FloatArray

CALIBRATORS = {"ARC": ARC, "AutoLARC": AutoLARC}


def misses(
    streams: int, rounds: int, seed: int, risk: float, good: int = 0, before: float = 0.1
) -> Iterator[FloatArray]:
    """Independent losses of 0 and 1 with a risk that holds after a number of good rounds."""
    rng = np.random.default_rng(seed)
    for t in range(rounds):
        yield (rng.random(streams) < (before if t < good else risk)).astype(np.float64)


def graded(streams: int, rounds: int, seed: int, risk: float, size: float) -> Iterator[FloatArray]:
    """Independent losses with a beta distribution; a small `size` makes them nearly 0 and 1."""
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        yield rng.beta(risk * size, (1.0 - risk) * size, streams)


def calibrated(name: str, streams: int, rounds: int, target: float) -> Iterator[FloatArray]:
    """Losses of a calibrator with its defaults; scores are half-normal, and wider by a feature."""
    runs = np.empty((rounds, streams), np.float32)
    for seed in range(streams):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=(rounds, 1))
        scores = np.abs(rng.normal(size=rounds)) * (0.5 + x[:, 0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about promises at the first rounds
            runs[:, seed] = replay(CALIBRATORS[name](target), x, miscoverage(scores)).losses
    for losses in runs:
        yield losses.astype(np.float64)
