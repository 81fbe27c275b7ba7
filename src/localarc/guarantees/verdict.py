"""The verdict: whether a promise is kept, in one sentence that leads with what counts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

from localarc.guarantees.chance import FIRST_LOOK, LEVEL, deviation, is_excess, is_too_early

State: TypeAlias = Literal["kept", "cautious", "not kept", "too early", "inconsistent"]
Kind: TypeAlias = Literal["group", "neighbourhood", "third"]

LEAST_ROUNDS = 100
"""Neighbourhoods and thirds with fewer rounds are not looked at: their worst is chance."""

LARGE = 5.0
"""Sets this many times as large as a rolling quantile's are reported, even if misses are right."""

_MARGIN = 0.05  # of the target: less is of no practical interest
_CANDIDATES: dict[Kind, int] = {"group": 1, "neighbourhood": 100, "third": 1}  # looked at, or more
_NAMED = 3  # small groups
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """Whether a promise is kept, and the sentence that says so.

    Parameters
    ----------
    state : {"kept", "cautious", "not kept", "too early", "inconsistent"}
        "kept": nothing is above the target by more than chance. "cautious": sets are larger than
        necessary, because the risk is below the target by more than chance, or although it is
        right. "not kept": the risk, a group, a neighbourhood or a third of a column is above the
        target by more than chance, or a bound was passed.
        "too early": too few rounds to tell, and no excess beyond chance. "inconsistent": the
        consistency check failed.
    text : str
        The sentence.

    Examples
    --------
    >>> str(Verdict("kept", "Risk 0.102, target 0.1."))
    'Risk 0.102, target 0.1.'
    """

    state: State
    text: str

    @property
    def good(self) -> bool:
        """Whether nothing calls for action: the promise is kept, if cautiously, or just begun."""
        return self.state in ("kept", "cautious", "too early")

    def __str__(self) -> str:
        return self.text


INCONSISTENT = Verdict(
    "inconsistent",
    "The consistency check failed: losses were lost or repeated. Do not rely on the risk or on "
    "the thresholds.",
)


@dataclass(frozen=True)
class Part:
    """The risk of a group, of a neighbourhood, or of a third of the rounds by a column.

    Parameters
    ----------
    name : hashable
        The group, the centre of the neighbourhood, or where the column lies: "age above 60".
    rounds : float
        The number of its rounds; for a neighbourhood, the effective number.
    risk : float
        Their mean loss.
    standard_error : float, default NaN
        The standard error of the mean loss; NaN if unknown.
    kind : {"group", "neighbourhood", "third"}, default "group"
        What it is. Pass all neighbourhoods and thirds that were looked at, not only the worst: how
        far chance takes the worst depends on their number.

    Examples
    --------
    >>> Part("City", rounds=500, risk=0.46).kind
    'group'
    """

    name: Hashable
    rounds: float
    risk: float
    standard_error: float = math.nan
    kind: Kind = "group"

    @property
    def title(self) -> str:
        """The part as the subject of a sentence."""
        if self.kind == "neighbourhood":
            return f"The neighbourhood of {self.name}"
        if self.kind == "third":
            return f"The third with {self.name}"
        proper = isinstance(self.name, str) and self.name[:1].isupper()
        return str(self.name) if proper else f"Group {self.name}"

    def error(self, loss_bound: float) -> float:
        """The standard error; if unknown, the largest possible: losses of 0 or `loss_bound`."""
        if math.isfinite(self.standard_error) and self.standard_error > 0.0:
            return self.standard_error
        return math.sqrt(max(0.0, self.risk * (loss_bound - self.risk)) / max(self.rounds, 1.0))


def verdict(
    alpha: float,
    risk: float,
    rounds: int,
    *,
    bound: float | None = None,
    parts: Iterable[Part] = (),
    loss_bound: float = 1.0,
    misses: bool = False,
    consistent: bool = True,
    size_ratio: float = math.nan,
) -> Verdict:
    """Judge a run by its numbers, leading with what counts.

    The order is: a failed consistency check; a bound that the risk has passed; too few rounds; the
    worst group, neighbourhood or third that is above the target by more than chance; the risk of
    all rounds; sets that are much larger than those of a rolling quantile.

    Parameters
    ----------
    alpha : float
        The target.
    risk : float
        The mean loss of all rounds.
    rounds : int
        The number of rounds.
    bound : float or None, default None
        The tightest bound on `|risk - alpha|` that is claimed to hold, if there is one.
    parts : iterable of Part, default empty
        Groups, neighbourhoods and thirds. Of the last two, those with fewer than 100 rounds are
        left out.
    loss_bound : float, default 1.0
        The largest possible loss.
    misses : bool, default False
        Whether every loss is 0 or 1: then risks are given in percent.
    consistent : bool, default True
        Whether the consistency check passed.
    size_ratio : float, default NaN
        How many times as large sets are as those of a rolling quantile of the same scores, as
        `replay` measures it; NaN if unknown.

    Examples
    --------
    >>> groups = [Part("North", 2500, 0.11), Part("South", 2500, 0.094)]
    >>> print(verdict(0.1, 0.102, 5000, parts=groups))
    Risk 0.102, target 0.1; every group within 0.01.
    >>> print(verdict(0.1, 0.12, 5000, parts=[Part("City", 500, 0.46)], misses=True))
    City misses 46 %, target 10 %.
    """
    words = _Words(alpha, misses)
    if not consistent:
        return INCONSISTENT
    if rounds == 0:
        return Verdict("too early", f"No loss so far, target {words.target}.")
    if bound is not None and abs(risk - alpha) > bound + _ROUNDING * loss_bound:
        return Verdict("not kept", words.passed(risk, bound))
    started = rounds >= FIRST_LOOK and is_excess(risk, rounds, alpha, loss_bound)
    if is_too_early(rounds, alpha, loss_bound) and not started:
        return Verdict("too early", words.early(risk, rounds))
    seen = [p for p in parts if p.kind == "group" or p.rounds >= LEAST_ROUNDS]
    known, above = judged(seen, alpha, loss_bound)
    if above:
        return Verdict("not kept", words.worst(above))
    limit = deviation(rounds, alpha, loss_bound) + _MARGIN * alpha
    if risk > alpha + limit:
        return Verdict("not kept", f"{words.overall(risk)}.")
    large = f"{float(f'{size_ratio:.2g}'):,g} times as large as a rolling quantile's"
    if risk < alpha - limit:
        than = f", {large}" if size_ratio >= LARGE else ""
        return Verdict("cautious", f"{words.overall(risk)}: sets are larger than necessary{than}.")
    if size_ratio >= LARGE:
        return Verdict("cautious", f"{words.overall(risk)}: sets are {large}.")
    return Verdict("kept", f"{words.overall(risk)}{words.spread(risk, seen, known)}.")


def counts_misses(parts: Sequence[Part]) -> bool:
    """Whether all losses seem to be 0 or 1: then their sums are whole numbers, to the last bit."""
    return all(round(p.risk * p.rounds) / p.rounds == p.risk for p in parts if p.rounds)


def _tries(seen: Sequence[Part]) -> dict[Kind, int]:
    """How many parts of each kind were looked at."""
    counts = Counter(part.kind for part in seen)
    return {kind: max(least, counts[kind]) for kind, least in _CANDIDATES.items()}


def _is_above(part: Part, tries: int, alpha: float, loss_bound: float) -> bool:
    """Whether a part is above the target by more than chance, as one of `tries`."""
    quantile = NormalDist().inv_cdf(1.0 - LEVEL / tries)
    return part.risk > alpha + quantile * part.error(loss_bound) + _MARGIN * alpha


def _says_something(part: Part, tries: int, alpha: float, loss_bound: float) -> bool:
    """Whether a part has enough rounds, or, with fewer, an excess that chance does not explain."""
    if not is_too_early(part.rounds, alpha, loss_bound):
        return True
    return is_excess(part.risk, part.rounds, alpha, loss_bound, tries)


@dataclass(frozen=True)
class _Words:
    """Risks in words: in percent for losses of 0 and 1."""

    alpha: float
    misses: bool

    def number(self, value: float) -> str:
        return f"{100.0 * value:.3g} %" if self.misses else f"{value:.3g}"

    def distance(self, value: float) -> str:
        value = _rounded_up(value)
        return f"{100.0 * value:.2g} points" if self.misses else f"{value:.2g}"

    @property
    def target(self) -> str:
        return self.number(self.alpha)

    def overall(self, risk: float) -> str:
        what = "Misses" if self.misses else "Risk"
        return f"{what} {self.number(risk)}, target {self.target}"

    def early(self, risk: float, rounds: int) -> str:
        seen = f"{'misses' if self.misses else 'risk'} {self.number(risk)}"
        plural = "" if rounds == 1 else "s"
        return f"Too early to tell: {seen} after {rounds:,} round{plural}, target {self.target}."

    def passed(self, risk: float, bound: float) -> str:
        return (
            f"{self.overall(risk)}: further away than the bound, {self.distance(bound)}, "
            "allows. One of its assumptions fails."
        )

    def worst(self, above: Sequence[Part]) -> str:
        first = above[0]
        more = sum(part.kind == first.kind for part in above[1:])
        verb = "misses" if self.misses else "has risk"
        text = f"{first.title} {verb} {self.number(first.risk)}, target {self.target}"
        if not more:
            return f"{text}."
        return f"{text}; {more} more exceed{'s' if more == 1 else ''} it."

    def spread(self, risk: float, seen: Sequence[Part], known: Sequence[Part]) -> str:
        groups, places, thirds = (
            [part for part in seen if part.kind == kind]
            for kind in ("group", "neighbourhood", "third")
        )
        texts = (
            self._groups(groups, [part for part in known if part.kind == "group"]),
            self._highest(risk, places, "place", f"with {LEAST_ROUNDS} rounds or more"),
            self._highest(risk, thirds, "third", "of columns"),
        )
        return "".join(f"; {text}" for text in texts if text)

    def _groups(self, groups: Sequence[Part], judged: Sequence[Part]) -> str:
        if not groups:
            return ""
        enough = {id(part) for part in judged}
        small = [part for part in groups if id(part) not in enough]
        named = ", ".join(f"{part.name} ({part.rounds:,.0f})" for part in small[:_NAMED])
        if len(small) > _NAMED:
            named += f" and {len(small) - _NAMED:,} more"
        if not judged:
            return f"too few rounds to tell by group: {named}"
        reach = self.distance(max(abs(part.risk - self.alpha) for part in judged))
        if not small:
            return f"every group within {reach}"
        return f"every group with enough rounds within {reach}, too few in {named}"

    def _highest(self, risk: float, looked_at: Sequence[Part], noun: str, which: str) -> str:
        """The worst of many; where all are below the risk, it lies in rounds that are in none."""
        if not looked_at:
            return ""
        highest = max(part.risk for part in looked_at)
        if len(looked_at) == 1:
            return f"its only {noun} {which}: {self.number(highest)}" if highest >= risk else ""
        what = f"its {len(looked_at):,} {noun}s {which}"
        if highest < risk:
            return f"none of {what} above that"
        return f"worst of {what}: {self.number(highest)}"


def _rounded_up(value: float) -> float:
    """The value with two digits, never less than it is."""
    if value <= 0.0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-9) * unit


def judged(
    parts: Sequence[Part], alpha: float, loss_bound: float = 1.0
) -> tuple[list[Part], list[Part]]:
    """The parts that can be judged, and those of them above the target by more than chance.

    The worst of those above comes first.
    """
    tries = _tries(parts)
    known = [part for part in parts if _says_something(part, tries[part.kind], alpha, loss_bound)]
    above = [part for part in known if _is_above(part, tries[part.kind], alpha, loss_bound)]
    return known, sorted(above, key=lambda part: -part.risk)
