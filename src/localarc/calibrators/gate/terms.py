"""The three terms of a gate's promise for everyone or one topic, and what is not known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from localarc.calibrators.gate.closed import Closed
from localarc.calibrators.gate.draws import NONE, Draws


@dataclass(frozen=True)
class GateTerms:
    """The promise for everyone or one topic, `wrong <= limit`, and what happened.

    The limit is `target x answered + credit x withheld + bound`. `Gate.summary` returns these.

    Parameters
    ----------
    answered, wrong, withheld : float
        The answers whose outcome is known, those of them that were wrong, and the rounds without
        an answer; weighted, if groups have weights.
    checked, checked_wrong : float
        The withheld answers whose outcome became known by audits or in shadow mode, and those of
        them that would have been wrong.
    alpha : float
        The target.
    credit : float
        What a withheld round adds to the promise.
    bound : float
        The third term, from theorem E; infinite for a topic that a full table has no room for.
    consistent : bool
        Whether the counts are those from which the bound follows.
    waiting, forgotten : float
        The answers that went out and whose outcome is still to come, or will never be known.
    draws : Draws
        What is known of answers that were looked at, or not, with a stated probability.
    closed : Closed or None
        Why nothing is answered at present; None if something is.

    Examples
    --------
    >>> terms = GateTerms(1000.0, 48.0, 500.0, 0.0, 0.0, alpha=0.05, credit=0.001, bound=60.0)
    >>> terms.wrong_share, terms.limit
    (0.048, 110.5)
    """

    answered: float
    wrong: float
    withheld: float
    checked: float
    checked_wrong: float
    alpha: float
    credit: float
    bound: float
    consistent: bool = True
    waiting: float = 0.0
    forgotten: float = 0.0
    draws: Draws = NONE
    closed: Closed | None = None

    @property
    def sent(self) -> float:
        """The answers that went out, with a known outcome or without."""
        return self.answered + self.waiting + self.forgotten + self.draws.passed_over

    @property
    def missing(self) -> float:
        """The answers of which nothing is known, not even that they were passed over by chance."""
        return self.waiting + self.forgotten

    @property
    def wrong_share(self) -> float:
        """The share of wrong answers among those with a known outcome, NaN without any."""
        return self.wrong / self.answered if self.answered else math.nan

    @property
    def limit(self) -> float:
        """The most wrong answers that the promise allows: the sum of its three terms."""
        return self.alpha * self.answered + self.credit * self.withheld + self.bound

    @property
    def estimated_wrong(self) -> float:
        """About how many of all answers were wrong, if all were drawn from; unbiased."""
        return self.wrong - self.draws.wrong + self.draws.estimate

    @property
    def most_wrong(self) -> float:
        """How many of all answers were wrong at most, with 95 % confidence at all times together.

        If those that are missing were passed over, each with at least the smallest probability
        that was stated. Infinite if no probability was stated.
        """
        return self._most_wrong(0.0)

    @property
    def most_wrong_anyway(self) -> float:
        """The same, however the missing ones turned out."""
        return self._most_wrong(self.missing)

    def _most_wrong(self, missing: float) -> float:
        most = self.wrong - self.draws.wrong + self.draws.most_wrong(missing)
        right = self.answered - self.wrong
        return min(most, self.sent - right) if math.isfinite(most) else math.inf

    @property
    def answered_share(self) -> float:
        """The share of the rounds whose answer went out, NaN without any."""
        rounds = self.sent + self.withheld
        return self.sent / rounds if rounds else math.nan

    @property
    def least_withheld(self) -> float:
        """The least share that any method must withhold, even one that knew all outcomes.

        Who answers all that is right, a share r of the rounds, may add `r alpha / (1 - alpha)`
        wrong answers. So at least `1 - r / (1 - alpha)` is withheld. What would have been right
        among the withheld is estimated from those that were checked; NaN if none was. Answers
        without a known outcome are taken to be right as often as the others.
        """
        rounds = self.sent + self.withheld
        unknown = self.sent > 0.0 and not self.answered
        if not rounds or unknown or (self.withheld and not self.checked):
            return math.nan
        right = self.sent * (1.0 - self.wrong_share) if self.sent else 0.0
        if self.withheld:
            right += self.withheld * (1.0 - self.checked_wrong / self.checked)
        return max(0.0, 1.0 - right / rounds / (1.0 - self.alpha))
