"""A run that watches itself: broken assumptions and unsuitable settings, warned about once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Self

from localarc.adaptive.running_constant import RunningConstant, Watched
from localarc.adaptive.settings import Settings
from localarc.calibrators import health
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.tickets import PendingRounds
from localarc.guarantees.assumptions import warn_of_broken_assumption
from localarc.memory.base import LossCurves
from localarc.validation import FloatArray


class WarnsOfProblems(BaseCalibrator):
    """Looks at its own losses and thresholds: every round, or whenever their number doubles."""

    settings: Settings
    _constant: RunningConstant
    _pending: PendingRounds
    _scores: tuple[float, float] | None  # their range, if it was stated
    _looks: bool = True

    def _start_watch(self) -> None:
        """Begin, or begin again, before the first round."""
        self._scores = self.settings.score_range
        self._watched = self._scores is not None  # or tickets are in use
        self._problems: dict[str, health.Problem] = {}  # what was warned about, once each
        self._suspected: frozenset[str] = frozenset()  # what the latest look found
        self._plan_look()

    # ---- assumptions, in every round -----------------------------------------------------------

    def _watch(self, threshold: float) -> Watched | None:
        """What the next step is to be watched for."""
        scores = self._scores
        return None if scores is None else (threshold, self.alpha, *scores)

    def _warn_if_broken(self) -> None:
        """Warn if the latest round was the first that does not fit the assumptions."""
        if self._looks and self._scores is not None and self._constant.just_broken:
            warn_of_broken_assumption(self.settings, self._constant)

    def _watch_many(self, thresholds: FloatArray, losses: FloatArray) -> None:
        constant, scores = self._constant, self._scores
        broken = scores is not None and constant.watch_many(thresholds, losses, self.alpha, scores)
        if broken and self._looks:
            warn_of_broken_assumption(self.settings, constant)

    # ---- settings, whenever the number of rounds doubles ---------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in this run without an error, each with the number to change."""
        return tuple(problem.text for problem in self._problems.values())

    def recent_problems(
        self, rounds: int, loss_sum: float, pending: int, thresholds: FloatArray
    ) -> list[str]:
        """What the run and its latest rounds reveal, for a caller that keeps a history itself.

        Parameters
        ----------
        rounds : int
            The number of latest rounds.
        loss_sum : float
            The sum of their losses.
        pending : int
            The largest number of losses that were pending in these rounds.
        thresholds : array of shape (n,)
            Thresholds that went out, in order, of which the latest half counts.
        """
        latest = health.latest_range(thresholds)
        recent = rounds, loss_sum
        seen = health.vitals(
            self.settings, self._constant, *recent, pending=pending, thresholds=latest
        )
        return [problem.text for problem in health.problems(seen)]

    def silence(self) -> Self:
        """Do not warn: for a service, which reports problems in its status instead."""
        self._looks = False
        self._plan_look()
        return self

    def _plan_look(self) -> None:
        """Look again when the number of rounds is the next power of two."""
        rounds = self._constant.rounds
        self._next_look = max(64, 1 << rounds.bit_length()) if self._looks else sys.maxsize
        self._looked = self._constant.rounds, self._constant.loss_sum

    def _look(self, stacklevel: int = 4) -> None:
        """Warn about what went wrong at two looks in a row; called by `update`."""
        constant, (rounds, loss_sum) = self._constant, self._looked
        recent = constant.rounds - rounds, constant.loss_sum - loss_sum
        self._plan_look()
        seen = health.vitals(self.settings, constant, *recent, pending=self._pending.most)
        found, before = health.problems(seen), self._suspected
        self._suspected = frozenset(problem.key for problem in found)
        self._warn([problem for problem in found if problem.key in before], stacklevel)

    def _look_back(self, thresholds: FloatArray, losses: FloatArray, curves: LossCurves) -> None:
        """Warn about what went wrong in a replay, where scores and thresholds are known."""
        self._plan_look()
        if not len(losses) or not self._looks:
            return
        recent = losses[len(losses) // 2 :]
        seen = health.vitals(
            self.settings,
            self._constant,
            len(recent),
            float(recent.sum()),
            scores=health.scores_of(curves, self.alpha, self.loss_bound),
            thresholds=health.latest_range(thresholds),
        )
        self._warn(health.problems(seen), stacklevel=6)

    def _warn(self, found: Sequence[health.Problem], stacklevel: int) -> None:
        new = [problem for problem in found if problem.key not in self._problems]
        self._problems |= {problem.key: problem for problem in new}
        for problem in new:
            warnings.warn(problem.text, health.PromiseWarning, stacklevel=stacklevel)
