"""Counts: what happened to the rounds of everyone, or of one topic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from localarc.calibrators.gate.draws import NONE, Draws
from localarc.validation import FloatArray

_EARLIER = 5  # numbers that earlier releases stored


@dataclass(frozen=True, slots=True)
class Counts:
    """Weights of rounds."""

    answered: float = 0.0  # with a known outcome
    wrong: float = 0.0  # of those
    withheld: float = 0.0
    checked: float = 0.0  # of the withheld, those audited
    checked_wrong: float = 0.0  # of those

    sent: float = 0.0  # answers that went out
    forgotten: float = 0.0  # of the sent, without an outcome or a stated probability
    draws: Draws = NONE

    @property
    def waiting(self) -> float:
        """Answers whose outcome is still to come."""
        closed = self.answered + self.forgotten + self.draws.passed_over
        return max(0.0, self.sent - closed)

    def send(self, weight: float) -> Counts:
        """An answer went out."""
        return replace(self, sent=self.sent + weight)

    def answer(self, weight: float, wrong: bool, probability: float = 1.0) -> Counts:
        """The outcome of an answer arrived."""
        drawn = probability < 1.0
        draws = self.draws.look(weight, wrong, probability) if drawn else self.draws
        answered, total = self.answered + weight, self.wrong + weight * wrong
        return replace(self, answered=answered, wrong=total, draws=draws)

    def forget(self, weight: float, probability: float | None) -> Counts:
        """The outcome of an answer will never be known."""
        if probability is None:
            return replace(self, forgotten=self.forgotten + weight)
        return replace(self, draws=self.draws.pass_over(weight, probability))

    def withhold(self, weight: float) -> Counts:
        """An answer was withheld."""
        return replace(self, withheld=self.withheld + weight)

    def check(self, weight: float, wrong: bool) -> Counts:
        """The outcome of a withheld answer became known."""
        return replace(
            self,
            checked=self.checked + weight,
            checked_wrong=self.checked_wrong + weight * wrong,
        )

    def row(self) -> FloatArray:
        """The numbers, for storage."""
        own = (self.answered, self.wrong, self.withheld, self.checked, self.checked_wrong)
        return np.array([*own, self.sent, self.forgotten, *self.draws.row()], np.float64)

    @classmethod
    def of(cls, row: FloatArray, waiting: float) -> Counts:
        """What `row` returned; `waiting` where an earlier release did not count what was sent."""
        values = [float(value) for value in row]
        if not all(0.0 <= value < np.inf for value in values) or len(values) < _EARLIER:
            raise ValueError("its counts make no sense")
        answered, wrong, withheld, checked, checked_wrong, *more = values
        earlier = answered, wrong, withheld, checked, checked_wrong
        if not more:
            return cls(*earlier, sent=answered + waiting)
        sent, forgotten, *draws = more
        return cls(*earlier, sent, forgotten, Draws.of(draws))
