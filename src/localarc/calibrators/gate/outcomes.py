"""The threshold of one topic: the lowest that its recent outcomes support, and a slow look below.

Outcomes are known for answers that went out, and for withheld ones that were audited. What lies
below the threshold stays unknown unless that moves. So it falls slowly, as long as the balance of
the promise (target x answered + credit x withheld - wrong) pays for that; a wrong answer lifts it
again to what the outcomes support. Steps are in units of the spread of the confidences, except
while the threshold is above all of them: to fall down to them brings no answers, right or wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from localarc.constants import MEMORY, RANGE_PART
from localarc.validation import FloatArray

WINDOW = 400  # outcomes that are remembered
PACE = 0.5  # of a spread: how far the threshold would fall per round with `idle` = 1
BALANCE = 5.0  # wrong answers that a topic can owe, or have saved up
SAVED = 2.0  # that make right answers lower the threshold as well
SAVED_PART = 0.1  # of the target: what `idle` is for these
FIRST_MEAN, FIRST_SPREAD = 0.5, 0.1  # count as one confidence
SMALLEST_SPREAD = 1.0 / RANGE_PART  # confidences have the range 1
MANY = 30.0  # confidences: the highest of fewer says little about the next
LEAST_STEP = 0.1  # as if the spread were this, where the threshold is above all confidences
AUDIT_WEIGHT = 5.0  # an audit stands for at most this many rounds withheld since the last
ROUNDING = 1e-9
NUMBERS = ("supported", "below", "mean", "deviation", "seen", "unaudited", "balance", "highest")


@dataclass
class RecentOutcomes:
    """What is known about one topic, and the threshold that follows from it."""

    alpha: float
    supported: float  # the lowest threshold that the outcomes support
    below: float = 0.0  # how far the threshold has moved below that
    mean: float = FIRST_MEAN
    deviation: float = FIRST_SPREAD
    seen: float = 0.0  # confidences
    unaudited: float = 0.0  # rounds withheld since the last audit
    balance: float = 0.0  # target x answered + credit x withheld - wrong, within limits
    highest: float = 0.0  # of the recent confidences
    known: FloatArray = field(default_factory=lambda: np.empty((0, 3)))  # confidence, wrong, weight

    @property
    def threshold(self) -> float:
        """The threshold of the next round."""
        return max(self.supported - self.below, 0.0)

    @property
    def spread(self) -> float:
        """The mean absolute deviation of recent confidences: the unit of steps and bets."""
        return max(self.deviation, SMALLEST_SPREAD)

    def see(self, confidence: float) -> None:
        """A round of this topic, answered or not."""
        share = max(1.0 / (self.seen + 2.0), 1.0 / MEMORY)
        self.deviation += share * (abs(confidence - self.mean) - self.deviation)
        self.mean += share * (confidence - self.mean)
        faded = self.highest + (confidence - self.highest) / MEMORY
        self.highest = max(confidence, faded)
        self.seen += 1.0

    def withhold(self, idle: float, credit: float) -> None:
        """Nothing is learned from a withheld round: look a little further below."""
        self.unaudited += 1.0
        if self.balance >= 0.0:
            self._lower(idle)
        self._pay(credit)

    def answer(self, confidence: float, wrong: bool, weight: float = 1.0) -> None:
        """The outcome of an answer that went out; it may stand for uninspected ones."""
        self._pay(self.alpha - wrong)
        self._learn(confidence, wrong, weight)
        if not wrong and self.balance >= SAVED:
            self._lower(SAVED_PART * self.alpha)

    def audit(self, confidence: float, wrong: bool) -> None:
        """The outcome of an audit; it stands for the answers withheld since the last one."""
        weight = min(max(self.unaudited, 1.0), AUDIT_WEIGHT)
        self.unaudited = 0.0
        self._learn(confidence, wrong, weight)

    def _learn(self, confidence: float, wrong: bool, weight: float) -> None:
        """Move to what is supported now, or stay below it after a right answer."""
        before = self.threshold
        self.known = np.vstack([self.known, (confidence, wrong, weight)])[-WINDOW:]
        self.supported = supported_by(self.known, self.alpha, self.supported)
        self.below = 0.0 if wrong else max(self.supported - before, 0.0)

    def _pay(self, amount: float) -> None:
        self.balance = min(max(self.balance + amount, -BALANCE), BALANCE)

    def _lower(self, part: float) -> None:
        self.below = min(self.below + self.step(part), self.supported)

    def step(self, part: float) -> float:
        """How far the threshold falls; confidences that are all alike have next to no spread."""
        step = PACE * part * self.spread
        above_all = self.threshold - self.highest
        if above_all <= 0.0 or self.seen < MANY:
            return step
        return max(step, min(PACE * part * LEAST_STEP, above_all))


def supported_by(known: FloatArray, alpha: float, current: float) -> float:
    """The lowest threshold with at most a share alpha of wrong answers above it."""
    ranked = known[np.argsort(-known[:, 0], kind="stable")]
    confidences = ranked[:, 0]
    excess = np.cumsum((ranked[:, 1] - alpha) * ranked[:, 2])
    last_of_equals = np.append(confidences[:-1] != confidences[1:], True)
    fine = np.flatnonzero((excess <= ROUNDING) & last_of_equals)
    if not len(fine):
        return float(confidences[0])
    if fine[-1] == len(ranked) - 1:
        return min(float(np.nextafter(confidences[-1], -1.0)), current)
    return float(confidences[fine[-1] + 1])
