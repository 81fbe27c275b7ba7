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
        What a confidence must exceed.
    highest : float
        The highest recent confidence.
    rounds : float
        How many rounds without an answer it takes until the threshold before bets is lower than
        that; infinite if it never is.
    owed : float
        The wrong answers beyond target and credit that these rounds pay for first.
    base : float or None, default None
        The threshold before bets; None if bets do not raise it.
    credit : float, default 0.0
        What a withheld round pays for, in wrong answers, until bets are low again.

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
    base: float | None = None
    credit: float = 0.0

    def __str__(self) -> str:
        highest, threshold = _told_apart(self.highest, self.threshold)
        text = f"recent confidences reach {highest} and must exceed {threshold}. "
        if self.base is not None and self.highest > self.base:
            return text + self._bets(self.base)
        if self.highest == 0.0:
            return f"{text}A confidence of 0 is never answered: pass how sure the model is."
        lower = f"start a gate with initial_threshold={max(self.highest - 0.01, 0.0):.2f}"
        if self.owed:
            text += f"Too many answers were wrong: {self.owed:,.1f} beyond target and credit. "
            lower = "raise credit"
        if math.isinf(self.rounds):
            return f"{text}Settings never lower the threshold: audit withheld answers, or {lower}."
        about = "about" if self.base is None else "at least"
        return (
            f"{text}The threshold will be there in {about} {self.rounds:,.0f} rounds; to be "
            f"sooner, audit some withheld answers, or {lower}."
        )

    def _bets(self, base: float) -> str:
        """Why bets alone keep it closed; audits do not teach them."""
        text = f"Bets have raised it from {base:.3g}, because too many answers were wrong. "
        if not self.credit:
            return f"{text}Settings never lower them: raise credit."
        return (
            f"{text}Each withheld round pays for {self.credit:g} wrong answers, the credit; to be "
            "sooner, raise credit."
        )


def why_closed(
    topic: RecentOutcomes | None, threshold: float, idle: float, credit: float
) -> Closed | None:
    """Why nothing of a topic is answered; None if some of its recent rounds would be.

    `threshold` is what its confidences must exceed, bets included.
    """
    if topic is None or topic.seen == 0.0:
        return None
    base, highest = topic.threshold, topic.highest
    if highest > max(base, threshold):
        return None
    owed, step = max(0.0, -topic.balance), topic.step(idle)
    waits = (owed / credit if credit else math.inf) if owed else 0.0
    falls = max(0.0, base - highest) / step if step and highest else math.inf
    rounds = waits + falls + 1.0
    if base >= highest and threshold <= base + step:  # bets make a round of difference at most
        return Closed(base, highest, rounds, owed)
    return Closed(threshold, highest, rounds, owed, base, credit)


def _told_apart(lower: float, higher: float) -> tuple[str, str]:
    """Two numbers, with as many digits as it takes to tell them apart, within reason."""
    for digits in range(3, 7):
        texts = f"{lower:.{digits}g}", f"{higher:.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    return f"{lower:.3g}", f"{higher:.3g}"
