"""Closed: why nothing is answered at present, and what to do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from localarc.calibrators.gate.outcomes import RecentOutcomes


@dataclass(frozen=True)
class Closed:
    """A threshold above all recent confidences of a topic.

    Parameters
    ----------
    threshold : float
        What a confidence must exceed, before bets.
    highest : float
        The highest recent confidence.
    rounds : float
        How many rounds without an answer it takes until the threshold is lower than that; infinite
        if it never is.
    owed : float
        The wrong answers beyond target and credit that these rounds pay for first.

    Examples
    --------
    >>> print(Closed(threshold=0.95, highest=0.9, rounds=333.0, owed=0.0))
    recent confidences reach 0.9 and must exceed 0.95. The threshold will be there in about 333 \
rounds; to be sooner, audit some withheld answers, or start a gate with initial_threshold=0.89.
    """

    threshold: float
    highest: float
    rounds: float
    owed: float

    def __str__(self) -> str:
        text = f"recent confidences reach {self.highest:.3g} and must exceed {self.threshold:.3g}. "
        if self.highest == 0.0:
            return f"{text}A confidence of 0 is never answered: pass how sure the model is."
        lower = f"start a gate with initial_threshold={max(self.highest - 0.01, 0.0):.2f}"
        if self.owed:
            text += f"Too many answers were wrong: {self.owed:,.1f} beyond target and credit. "
            lower = "raise credit"
        if math.isinf(self.rounds):
            return f"{text}Settings never lower the threshold: audit withheld answers, or {lower}."
        return (
            f"{text}The threshold will be there in about {self.rounds:,.0f} rounds; to be sooner, "
            f"audit some withheld answers, or {lower}."
        )


def why_closed(topic: RecentOutcomes | None, idle: float, credit: float) -> Closed | None:
    """Why nothing of a topic is answered; None if some of its recent rounds would be."""
    if topic is None or topic.seen == 0.0 or topic.highest > topic.threshold:
        return None
    owed, step = max(0.0, -topic.balance), topic.step(idle)
    waits = (owed / credit if credit else math.inf) if owed else 0.0
    falls = (topic.threshold - topic.highest) / step if step and topic.highest else math.inf
    return Closed(topic.threshold, topic.highest, waits + falls + 1.0, owed)
