"""Draws: what the outcomes of answers that were drawn at random say about all answers.

Each answer is inspected with a stated probability p. An inspected wrong answer counts 1/p times,
which is unbiased. The upper bound on the number of wrong answers, at a stated confidence, comes
from bets that can be won only by chance; the proof is in `docs/guarantees.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from localarc import validation

CONFIDENCE = 0.95
"""The probability with which a bound on all answers holds at all times together."""

LEAST_PROBABILITY = 0.001
STAKES = tuple(2.0**-k for k in range(1, 13))
_GAINS = tuple(-math.log1p(-stake) for stake in STAKES)
_STEPS = 60  # of a bisection


@dataclass(frozen=True, slots=True)
class Draws:
    """Weights of answers with a stated probability, and what the bets on them lost."""

    looked_at: float = 0.0
    wrong: float = 0.0  # of those
    estimate: float = 0.0  # the same, each 1/p times: about as many of all drawn from were wrong
    passed_over: float = 0.0
    least: float = 1.0  # the smallest probability so far
    losses: tuple[float, ...] = (0.0,) * len(STAKES)

    def look(self, weight: float, wrong: bool, probability: float) -> Draws:
        """An answer was looked at."""
        seen = replace(self, looked_at=self.looked_at + weight, least=min(self.least, probability))
        if not wrong:
            return seen
        pairs = zip(self.losses, STAKES, strict=True)
        return replace(
            seen,
            wrong=self.wrong + weight,
            estimate=self.estimate + weight / probability,
            losses=tuple(loss + weight * _loss(stake, probability) for loss, stake in pairs),
        )

    def pass_over(self, weight: float, probability: float) -> Draws:
        """An answer was not looked at, and could have been."""
        passed = self.passed_over + weight
        return replace(self, passed_over=passed, least=min(self.least, probability))

    def most_wrong(self, missing: float = 0.0, confidence: float = CONFIDENCE) -> float:
        """How many of the answers that were drawn from are wrong at most.

        Of those whose draw or outcome is `missing`, each may have been drawn, and wrong.
        """
        bets = [
            (gain, loss + missing * _loss(stake, self.least))
            for stake, gain, loss in zip(STAKES, _GAINS, self.losses, strict=True)
            if stake < self.least < 1.0
        ]
        if not bets:
            return math.inf
        limit = math.log(len(STAKES) / (1.0 - confidence))
        low, high = 0.0, min((limit + loss) / gain for gain, loss in bets)
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            most = max(exponents := [gain * middle - loss for gain, loss in bets])
            total = most + math.log(sum(math.exp(each - most) for each in exponents))
            low, high = (middle, high) if total < limit else (low, middle)
        return high

    def row(self) -> list[float]:
        """The numbers, for storage."""
        return [
            *(self.looked_at, self.wrong, self.estimate, self.passed_over, self.least),
            *self.losses,
        ]

    @classmethod
    def of(cls, row: list[float]) -> Draws:
        """What `row` returned."""
        if len(row) != len(cls().row()) or not LEAST_PROBABILITY <= row[4] <= 1.0:
            raise ValueError("its draws make no sense")
        looked_at, wrong, estimate, passed_over, least, *losses = row
        return cls(looked_at, wrong, estimate, passed_over, least, tuple(losses))


NONE = Draws()
"""No probability was stated."""


def _loss(stake: float, probability: float) -> float:
    """What a bet loses, in logarithms, when a wrong answer is looked at."""
    return -math.log1p(-stake / probability) if stake < probability else 0.0


def probability_of(value: Any) -> float:
    """The probability with which an answer was to be looked at."""
    hint = "It is the probability with which this answer was to be looked at, e.g. 0.2."
    number = validation.finite("probability", value, hint)
    if not LEAST_PROBABILITY <= number <= 1.0:
        raise ValueError(f"probability must lie in [{LEAST_PROBABILITY}, 1], got {number}. {hint}")
    return number


def passed_over_with(value: Any) -> float | None:
    """The same of an answer that was not looked at; None if none was stated."""
    if value is None or (number := probability_of(value)) < 1.0:
        return value if value is None else number
    raise ValueError(
        "probability must be below 1 for an answer that was not looked at, got 1.0. Leave it out "
        "if the outcome will never be known for another reason."
    )
