"""Counts: what happened to the rounds of everyone, or of one topic."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np

from localarc.validation import FloatArray


@dataclass
class Counts:
    """Weights of rounds; a round counts once its charge to the bettors is known."""

    answered: float = 0.0  # with a known outcome
    wrong: float = 0.0  # of those
    withheld: float = 0.0
    checked: float = 0.0  # of the withheld, with an outcome that somebody found out
    checked_wrong: float = 0.0  # of those

    def answer(self, weight: float, wrong: bool) -> None:
        """The outcome of an answer arrived."""
        self.answered += weight
        self.wrong += weight * wrong

    def withhold(self, weight: float) -> None:
        """An answer was withheld."""
        self.withheld += weight

    def check(self, weight: float, wrong: bool) -> None:
        """The outcome of a withheld answer became known."""
        self.checked += weight
        self.checked_wrong += weight * wrong

    def row(self) -> FloatArray:
        """The numbers, for storage."""
        return np.array(astuple(self), np.float64)

    @classmethod
    def of(cls, row: FloatArray) -> Counts:
        """What `row` returned."""
        values = [float(value) for value in row]
        if len(values) != len(fields(cls)) or not all(0.0 <= v < np.inf for v in values):
            raise ValueError("its counts make no sense")
        return cls(*values)
