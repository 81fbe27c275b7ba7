"""Warnings about a run's promise: unsuitable settings, each reported once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.calibrators import health
from localarc.memory.base import LossCurves
from localarc.validation import FloatArray


class PromiseWarnings:
    """What a run of ARC or L-ARC is warned about, when the number of its rounds doubles.

    Parameters
    ----------
    settings : Settings
        The settings of the run.
    silent : bool, default False
        Whether nothing is looked for.
    """

    def __init__(self, settings: Settings, silent: bool = False) -> None:
        self.silent = silent
        self.found: dict[str, health.Problem] = {}  # what was warned about, once each
        self._settings = settings
        self._suspected: frozenset[str] = frozenset()  # what the latest look found
        self.looked = 0, 0.0  # the number of rounds and the sum of losses at the latest look

    def next_look(self, constant: RunningConstant) -> int:
        """The round after which to look again: the next power of two."""
        self.looked = constant.rounds, constant.loss_sum
        return sys.maxsize if self.silent else max(64, 1 << constant.rounds.bit_length())

    def look(self, constant: RunningConstant, most_pending: int, before: tuple[int, float]) -> None:
        """Warn about what went wrong at two looks in a row, given what the one before had seen."""
        rounds, loss_sum = before
        recent = constant.rounds - rounds, constant.loss_sum - loss_sum
        seen = health.vitals(self._settings, constant, *recent, pending=most_pending)
        found, suspected = health.problems(seen), self._suspected
        self._suspected = frozenset(problem.key for problem in found)
        self._warn([problem for problem in found if problem.key in suspected], stacklevel=5)

    def look_back(
        self,
        constant: RunningConstant,
        thresholds: FloatArray,
        losses: FloatArray,
        curves: LossCurves,
    ) -> None:
        """Warn about what went wrong in a replay, where scores and thresholds are known."""
        if not len(losses) or self.silent:
            return
        settings, recent = self._settings, losses[len(losses) // 2 :]
        seen = health.vitals(
            settings,
            constant,
            len(recent),
            float(recent.sum()),
            scores=health.scores_of(curves, settings.alpha, settings.loss_bound),
            thresholds=health.latest_range(thresholds),
        )
        self._warn(health.problems(seen), stacklevel=7)

    def _warn(self, found: Sequence[health.Problem], stacklevel: int) -> None:
        new = [problem for problem in found if problem.key not in self.found]
        self.found |= {problem.key: problem for problem in new}
        for problem in new:
            warnings.warn(problem.text, health.PromiseWarning, stacklevel=stacklevel)
