"""The summary of a gate: the verdict, then the three terms of its promise by topic."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from localarc.guarantees.chance import is_too_early
from localarc.guarantees.verdict import INCONSISTENT, Part, State, Verdict, verdict

_ROUNDING = 1e-6


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

    @property
    def wrong_share(self) -> float:
        """The share of the answers that were wrong, NaN without any."""
        return self.wrong / self.answered if self.answered else math.nan

    @property
    def limit(self) -> float:
        """The most wrong answers that the promise allows: the sum of its three terms."""
        return self.alpha * self.answered + self.credit * self.withheld + self.bound

    @property
    def answered_share(self) -> float:
        """The share of the rounds that were answered, NaN without any."""
        rounds = self.answered + self.withheld
        return self.answered / rounds if rounds else math.nan

    @property
    def least_withheld(self) -> float:
        """The least share that any method must withhold, even one that knew all outcomes.

        Who answers all that is right, a share r of the rounds, may add `r alpha / (1 - alpha)`
        wrong answers. So at least `1 - r / (1 - alpha)` is withheld. What would have been right
        among the withheld is estimated from those that were checked; NaN if none was.
        """
        rounds = self.answered + self.withheld
        if not rounds or (self.withheld and not self.checked):
            return math.nan
        right = self.answered - self.wrong
        if self.withheld:
            right += self.withheld * (1.0 - self.checked_wrong / self.checked)
        return max(0.0, 1.0 - right / rounds / (1.0 - self.alpha))


@dataclass(frozen=True)
class GateSummary(GateTerms):
    """The promise of a gate for everyone and every topic, and whether it is kept.

    Parameters
    ----------
    answered, wrong, withheld, checked, checked_wrong, alpha, credit, bound, consistent
        As of `GateTerms`, for everyone.
    topics : mapping
        The same for each topic.
    pending : int
        Answers whose outcome is still to come.
    shadow : bool
        Whether the gate only rehearses.

    Examples
    --------
    >>> from localarc import Gate
    >>> gate = Gate(wrong_at_most=0.1)
    >>> d = gate.decide("billing", confidence=0.99)
    >>> print(gate.feedback(d, wrong=False).summary().verdict)
    Too early to tell: 0 % of 1 answer wrong, target 10 %.
    """

    topics: Mapping[Hashable, GateTerms] = field(default_factory=dict)
    pending: int = 0
    shadow: bool = False

    @property
    def verdict(self) -> Verdict:
        """Whether the promise is kept, in one sentence that leads with what counts."""
        parts = {"everyone": self, **self.topics}
        if not self.consistent or any(p.wrong > p.limit + _ROUNDING for p in parts.values()):
            return INCONSISTENT
        if not self.answered:
            return Verdict("too early", f"No outcome so far, target {_percent(self.alpha)}.")
        return Verdict(self._state(), self._sentence())

    def _state(self) -> State:
        topics = [
            Part(name, topic.answered, topic.wrong_share)
            for name, topic in self.topics.items()
            if topic.answered
        ]
        return verdict(self.alpha, self.wrong_share, int(self.answered), parts=topics).state

    def _sentence(self) -> str:
        early = "Too early to tell: " if self._state() == "too early" else ""
        text = f"{early}{_answers(self)}, target {_percent(self.alpha)}"
        known = {
            name: topic
            for name, topic in self.topics.items()
            if not is_too_early(topic.answered, self.alpha, 1.0)
        }
        if known:
            name = max(known, key=lambda topic: known[topic].wrong_share)
            text += f"; the worst topic is {name}, {_answers(known[name])}"
        return f"{text}."

    def __str__(self) -> str:
        lines = [str(self.verdict), *_table({"everyone": self, **self.topics}), self._least()]
        if self.pending:
            lines.append(f"{self.pending:,} answers wait for their outcome.")
        if self.shadow:
            lines.append("Shadow mode: every answer went out; above is what the gate would do.")
        return "\n".join(lines)

    def _least(self) -> str:
        if not self.answered + self.withheld:
            return "What any method must withhold is unknown so far."
        share = self.least_withheld
        own = f"this gate withheld {_percent(1.0 - self.answered_share)}"
        if math.isnan(share):
            return f"What any method must withhold is unknown until some are audited; {own}."
        source = f" (from {self.checked:,.0f} checked)" if self.withheld else ""
        return f"Any method must withhold at least {_percent(share)}{source}; {own}."


def _table(parts: Mapping[Hashable, GateTerms]) -> list[str]:
    width = max(len(str(name)) for name in parts)
    head = f"{'':{width}} {'answered':>9} {'withheld':>9} {'wrong':>7}  at most"
    rows = [
        f"{name!s:{width}} {part.answered:>9,.0f} {part.withheld:>9,.0f} {part.wrong:>7,.0f}  "
        f"{part.limit:,.1f} = {part.alpha:g} x {part.answered:,.0f} + {part.credit:g} x "
        f"{part.withheld:,.0f} + {part.bound:,.1f}"
        for name, part in parts.items()
    ]
    return [head, *rows]


def _answers(part: GateTerms) -> str:
    count = f"{part.answered:,.0f} answer{'' if part.answered == 1.0 else 's'}"
    return f"{_percent(part.wrong_share)} of {count} wrong"


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
