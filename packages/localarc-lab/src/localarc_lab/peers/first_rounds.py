"""The first rounds as a calibration set, for methods whose authors split one off."""

from __future__ import annotations

import math
from collections.abc import Callable

from localarc import validation
from localarc_lab.peers.score_window import ScoreWindow, conformal

CALIBRATION = 150
"""What Bhatnagar et al.'s code takes at alpha = 0.1 (the DKW inequality with error 0.1 at 90 %)."""


class FirstRounds:
    """Scores of the first rounds, until there are enough to fix the units of a method.

    While they are collected, thresholds are those of split conformal prediction. Infinite scores
    are counted, but do not affect the units.
    """

    def __init__(self, size: int, start: float) -> None:
        hint = "It is the number of rounds that fix the units."
        self.size = validation.integer("calibration", size, 1, hint)
        self.scores: list[float] = []
        self._window = ScoreWindow(None, start)

    @property
    def complete(self) -> bool:
        """Whether all first rounds are over."""
        return len(self.scores) >= self.size

    def add(self, score: float) -> None:
        """Add the score of a round."""
        self.scores.append(score)
        self._window.add(score)

    def threshold(self, miss_rate: float) -> float:
        """Return the threshold of split conformal prediction on the scores so far."""
        return self._window.threshold(miss_rate, conformal)

    def measure(self, unit: Callable[[list[float]], float]) -> float:
        """Return a unit of the finite scores; 1 if there is none, or if it is 0."""
        finite = self._finite()
        return (unit(finite) if finite else 0.0) or 1.0

    def measure_range(self) -> tuple[float, float]:
        """Return the smallest and the largest finite score; 0 and 1 if there is none."""
        finite = self._finite() or [0.0, 1.0]
        return min(finite), max(finite)

    def _finite(self) -> list[float]:
        return [score for score in self.scores if math.isfinite(score)]


def largest(scores: list[float]) -> float:
    """Return the largest magnitude."""
    return max(map(abs, scores))


def span(scores: list[float]) -> float:
    """Return the distance from the smallest to the largest."""
    return max(scores) - min(scores)


def scale_setting(value: float | None) -> float | None:
    """Check a unit of the scores, where one is given."""
    hint = "It is a scale of the scores; None measures it in the first rounds."
    return None if value is None else validation.positive("scale", value, hint)
