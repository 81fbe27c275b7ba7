"""Two streams, and the ways to run through them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import equations
from localarc import LARC, RBF, replay
from localarc.curves import Curves, miscoverage
from localarc_lab.experiments.electricity import data

ALPHA = 0.1


@dataclass(frozen=True)
class Work:
    """A stream, and the length scale it is calibrated with."""

    name: str
    X: Any
    scores: Any
    curves: Curves
    length_scale: float

    def __len__(self) -> int:
        return len(self.X)


def area(T: int = 25_000) -> Work:
    """Users on 140 m x 100 m, harder to serve on one side; as in the beam experiment."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(T, 2)) * [140.0, 100.0]
    scores = np.abs(random.normal(size=T)) * (0.2 + X[:, 0] / 140.0)
    return Work(f"d = 2, T = {T:,}, l = 100", X, scores, miscoverage(scores), 100.0)


def demand(T: int | None = None) -> Work:
    """Elec2: the daily mean demands of seven days; repeated in a jittered copy beyond its end."""
    part = data.load().take(slice(1, None, 2))
    scores = np.abs(part.demand - part.forecast)
    X = part.features
    if T is not None:
        random = np.random.default_rng(0)
        rows = np.arange(T) % len(X)
        X = X[rows] + (np.arange(T) >= len(X))[:, None] * random.normal(size=(T, 7)) * 1e-3
        scores = scores[rows]
    return Work(f"d = 7, T = {len(X):,}, l = 1", X, scores, miscoverage(scores), 1.0)


def calibrator(work: Work, memory: Any) -> LARC:
    return LARC(ALPHA, RBF.from_paper(work.length_scale), memory=memory)


def loop(work: Work) -> equations.Run:
    """The straightforward NumPy loop."""
    scores = work.scores
    return equations.larc(
        work.X,
        lambda t, g: float(scores[t] > g),
        ALPHA,
        equations.gaussian(work.length_scale),
        lambda t: t**-0.5,
        1e-4,
    )


def run_online(cal: Any, work: Work) -> tuple[Any, Any]:
    """The two calls of a user's loop."""
    scores = work.scores.tolist()
    thresholds, losses = np.empty((2, len(work)))
    for t, x in enumerate(work.X):
        thresholds[t] = g = cal.threshold(x)
        losses[t] = loss = float(scores[t] > g)
        cal.update(x, loss)
    return thresholds, losses


def run_replay(work: Work, memory: Any) -> Any:
    return replay(calibrator(work, memory), work.X, work.curves)


def part(work: Work, start: int, stop: int) -> Work:
    chosen = slice(start, stop)
    curves = work.curves.take(chosen)
    return Work(work.name, work.X[chosen], work.scores[chosen], curves, work.length_scale)


def seconds(call: Callable[[], Any], repeat: int = 15) -> float:
    """CPU seconds, the minimum of several runs: other processes disturb most of them."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)
