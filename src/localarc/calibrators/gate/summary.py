"""The summary of a gate: the verdict, then the three terms of its promise by topic."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from localarc.calibrators.gate.draws import CONFIDENCE
from localarc.calibrators.gate.terms import GateTerms
from localarc.guarantees.chance import ENOUGH_LOSSES
from localarc.guarantees.verdict import INCONSISTENT, Part, Verdict, judged, verdict

_ROUNDING = 1e-6
_EVERYONE = "everyone"


@dataclass(frozen=True)
class GateSummary(GateTerms):
    """The promise of a gate for everyone and every topic, and whether it is kept.

    Parameters
    ----------
    answered, wrong, withheld, checked, checked_wrong, alpha, credit, bound, consistent, waiting, \
forgotten, draws, closed
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
    >>> print(gate.tell(d, wrong=False).summary().verdict)
    Too early to tell: 0 % of 1 answer wrong, target 10 %.
    """

    topics: Mapping[Hashable, GateTerms] = field(default_factory=dict)
    pending: int = 0
    shadow: bool = False

    @property
    def verdict(self) -> Verdict:
        """Whether the promise is kept, in one sentence that leads with what counts."""
        parts = {_EVERYONE: self, **self.topics}
        if not self.consistent or any(p.wrong > p.limit + _ROUNDING for p in parts.values()):
            return INCONSISTENT
        if not self.answered:
            return Verdict("too early", f"{self._no_outcome()}.")
        topics = [Part(n, t.answered, t.wrong_share) for n, t in self.topics.items() if t.answered]
        state = verdict(self.alpha, self.wrong_share, int(self.answered), parts=topics).state
        whole = f"{_answers(self)}, target {_percent(self.alpha)}"
        if state == "too early":
            return Verdict(state, f"Too early to tell: {whole}.")
        known, above = judged(topics, self.alpha)
        if above:
            more = f"; {len(above) - 1} more exceed the target" if len(above) > 1 else ""
            first = f"{above[0].name}: {_share(above[0])} wrong, more than chance explains"
            return Verdict(state, f"{first}{more}; in all {whole}.")
        return Verdict(state, f"{whole}{_worst(topics, known, self.alpha)}.")

    def _no_outcome(self) -> str:
        if self.sent:
            return f"No outcome so far of {_count(self.sent)}, target {_percent(self.alpha)}"
        if not self.withheld:
            return f"No outcome so far, target {_percent(self.alpha)}"
        reasons = [part.closed for part in (self, *self.topics.values()) if part.closed]
        text = f"Nothing was answered in {self.withheld:,.0f} rounds"
        return f"{text}: {reasons[0]}".rstrip(".") if reasons else text

    def __str__(self) -> str:
        parts = {_EVERYONE: self, **self.topics}
        lines = [str(self.verdict), *_table(parts), self._least(), *self._unknown()]
        lines += [text for name, part in parts.items() for text in _about_all(name, part)]
        lines += [
            f"Nothing{'' if name == _EVERYONE else f' about {name}'} is answered at present: "
            f"{part.closed}"
            for name, part in parts.items()
            if part.closed
        ]
        if self.shadow:
            lines.append("Shadow mode: every answer went out; above is what the gate would do.")
        return "\n".join(lines)

    def _unknown(self) -> Iterator[str]:
        if self.waiting:
            yield f"{_count(self.waiting)} wait for their outcome: nothing is known of them."
        if self.waiting > self.answered:
            yield "The bound grows with them: call forget(id, ...) where no outcome will come."
        if self.forgotten:
            yield f"{_count(self.forgotten)} were forgotten: nothing is known of them."
        if self.missing > self.answered and math.isinf(self.most_wrong):
            yield (
                "To bound all answers, look at some that are drawn at random, and state the "
                "probability: tell(id, wrong=..., probability=0.2)."
            )

    def _least(self) -> str:
        if not self.sent + self.withheld:
            return "What any method must withhold is unknown so far."
        share = self.least_withheld
        own = f"this gate withheld {_percent(1.0 - self.answered_share)}"
        if math.isnan(share):
            return f"What any method must withhold is unknown until some are audited; {own}."
        source = f" (from {self.checked:,.0f} checked)" if self.withheld else ""
        return f"Any method must withhold at least {_percent(share)}{source}; {own}."


def _table(parts: Mapping[Hashable, GateTerms]) -> list[str]:
    width = max(len(str(name)) for name in parts)
    columns = ("went out", "known", "wrong", "withheld")
    head = f"{'':{width}} {' '.join(f'{name:>9}' for name in columns)}  of the known, at most"
    rows = [
        f"{name!s:{width}} {part.sent:>9,.0f} {part.answered:>9,.0f} {part.wrong:>9,.0f} "
        f"{part.withheld:>9,.0f}  {_limit(part)}"
        for name, part in parts.items()
    ]
    return [head, *rows]


def _limit(part: GateTerms) -> str:
    terms = (
        f"{part.alpha:g} x {part.answered:,.0f} + {part.credit:g} x {part.withheld:,.0f} + "
        f"{part.bound:,.1f}"
    )
    if part.limit < part.answered:
        return f"{part.limit:,.1f} = {terms}"
    return f"{part.answered:,.0f}, all: {terms} is more" if part.answered else "nothing is known"


def _about_all(name: Hashable, part: GateTerms) -> Iterator[str]:
    """What draws say about all answers."""
    most, anyway = part.most_wrong, part.most_wrong_anyway
    if math.isinf(most):
        return
    text = (
        f"{'Everyone' if name == _EVERYONE else name}: with {_percent(CONFIDENCE)} "
        f"confidence at most {math.ceil(most):,} of all {_count(part.sent)} wrong, "
        f"{_at_most(most / part.sent)}; about {_percent(part.estimated_wrong / part.sent)}"
    )
    if part.missing:
        text += f", if the {part.missing:,.0f} of which nothing is known were passed over"
    if part.missing and _is_news(part, anyway):
        text += f"; otherwise at most {math.ceil(anyway):,}"
    yield f"{text}."


def _worst(topics: list[Part], known: list[Part], alpha: float) -> str:
    """The worst of the topics that can be judged; of the others, that with most beyond target."""
    enough = math.ceil(ENOUGH_LOSSES / alpha - _ROUNDING)
    few = [part for part in topics if part not in known]
    text = ""
    if known:
        worst = max(known, key=lambda part: part.risk)
        several = (
            f"of {len(known)} topics with {enough:,} answers or more, {worst.name} is the worst"
        )
        alone = f"the only topic with {enough:,} answers or more is {worst.name}"
        text = f"; {several if len(known) > 1 else alone}, {_share(worst)} wrong"
    if few:  # by their number, since one wrong answer of one says less than 9 of 66
        worst = max(few, key=lambda part: (part.risk - alpha) * part.rounds)
        more = f" and {len(few) - 1} more" if len(few) > 1 else ""
        text += f"; {worst.name}: {_share(worst)}{more}, too few to judge"
    return text


def _answers(part: GateTerms) -> str:
    """How many answers were wrong, and whether that is known of all that went out."""
    if part.sent <= part.answered * (1.0 + _ROUNDING):
        return f"{_percent(part.wrong_share)} of {_count(part.answered)} wrong"
    share = f"{_percent(part.wrong_share)} of {part.answered:,.0f} known outcomes wrong"
    text = f"{share} ({_count(part.sent)} went out"
    most = part.most_wrong_anyway
    if _is_news(part, most):
        of_all = _at_most(most / part.sent)
        text += f", with {_percent(CONFIDENCE)} confidence at most {of_all} of them wrong"
    return f"{text})"


def _is_news(part: GateTerms, most: float) -> bool:
    """Whether a bound says more than that what is known to be right is right."""
    return most < part.sent - part.answered + part.wrong


def _count(answers: float) -> str:
    return f"{answers:,.0f} answer{'' if answers == 1.0 else 's'}"


def _share(part: Part) -> str:
    return f"{_percent(part.risk)} of {part.rounds:,.0f}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def _at_most(share: float) -> str:
    """A bound is never stated smaller than it is."""
    unit = 10.0 ** (math.floor(math.log10(share)) - 2) if share else 1.0
    return _percent(math.ceil(share / unit) * unit)
