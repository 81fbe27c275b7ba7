"""The time of a step of each peer, as ratios measured in one run."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.released import ALPHA, Step, released
from localarc import ARC
from localarc.validation import FloatArray
from localarc_lab import peers

ROUNDS, FIRST = 2000, 1300
"""Rounds on the clock, after so many that fill windows."""

REPEATS = 3


def main() -> None:
    random = np.random.default_rng(0)
    X = random.uniform(size=(FIRST + ROUNDS, 3))
    scores = np.abs(random.normal(size=len(X))) * (0.3 + X[:, 0])
    unit = _seconds(lambda: ARC(ALPHA), X, scores)
    theirs = {
        name: (package, _released_seconds(make, scores)) for name, package, make in released()
    }
    print("| method | steps of ARC | of the released package |\n|---|---|---|")
    for name in peers.__all__:
        method = getattr(peers, name)
        if "alpha" not in inspect.signature(method).parameters:
            continue
        seconds = _seconds(partial(method, ALPHA), X, scores)
        package, other = theirs.get(name, ("", 0.0))
        beside = f"{seconds / other:.2f} ({package})" if other else ""
        print(f"| `{name}` | {seconds / unit:.1f} | {beside} |")


def _play(calibrator: Any) -> Callable[[FloatArray, float, int], None]:
    """A step of a calibrator: a threshold, then an update."""
    wants: frozenset[str] = getattr(calibrator, "learns_from", frozenset())

    def step(x: FloatArray, score: float, t: int) -> None:
        where = {"groups": t % 3} if "groups" in wants else {}
        more = {"score": score} if "score" in wants else {}
        loss = float(score > calibrator.threshold(x, **where))
        calibrator.update(x, loss, **where, **more)

    return step


def _seconds(make: Callable[[], Any], X: FloatArray, scores: FloatArray) -> float:
    """The processor time of the last rounds, the shortest of a few runs."""
    return min(_run_seconds(_play(make()), X, scores) for _ in range(REPEATS))


def _run_seconds(
    step: Callable[[FloatArray, float, int], None], X: FloatArray, scores: FloatArray
) -> float:
    start = 0.0
    for t, score in enumerate(scores.tolist()):
        if t == FIRST:
            start = time.process_time()
        step(X[t], score, t)
    return time.process_time() - start


def _released_seconds(make: Callable[..., Any], scores: FloatArray) -> float:
    return min(_released_run(make(scores[:FIRST]), scores) for _ in range(REPEATS))


def _released_run(step: Step, scores: FloatArray) -> float:
    start = time.process_time()
    for score in scores[FIRST:].tolist():
        step(score)
    return time.process_time() - start
