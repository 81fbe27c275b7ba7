"""The verdict: whether a promise is kept, in one sentence that leads with what counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

from localarc.guarantees.chance import FIRST_LOOK, LEVEL, deviation, is_excess, is_too_early

State: TypeAlias = Literal["kept", "cautious", "not kept", "too early", "inconsistent"]
Kind: TypeAlias = Literal["group", "neighbourhood"]

_MARGIN = 0.05  # of the target: less is of no practical interest
_CANDIDATES = {"group": 1, "neighbourhood": 100}  # the parts shown are the worst of this many
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Verdict:
    """Whether a promise is kept, and the sentence that says so.

    Parameters
    ----------
    state : {"kept", "cautious", "not kept", "too early", "inconsistent"}
        "kept": nothing is above the target by more than chance. "cautious": the risk is below the
        target by more than chance, so that sets are larger than necessary. "not kept": the risk, a
        group or a neighbourhood is above the target by more than chance, or a bound was passed.
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
    """The risk of a group or of a neighbourhood.

    Parameters
    ----------
    name : hashable
        The group, or the centre of the neighbourhood.
    rounds : float
        The number of its rounds; for a neighbourhood, the effective number.
    risk : float
        Their mean loss.
    standard_error : float, default NaN
        The standard error of the mean loss; NaN if unknown.
    kind : {"group", "neighbourhood"}, default "group"
        What it is.

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
        proper = isinstance(self.name, str) and self.name[:1].isupper()
        return str(self.name) if proper else f"Group {self.name}"

    def error(self, loss_bound: float) -> float:
        """The standard error, at most that of losses of 0 or `loss_bound` where it is unknown."""
        if math.isfinite(self.standard_error) and self.standard_error > 0.0:
            return self.standard_error
        return math.sqrt(max(0.0, self.risk * (loss_bound - self.risk)) / max(self.rounds, 1.0))


def verdict(
    alpha: float,
    risk: float,
    rounds: int,
    *,
    bound: float | None = None,
    parts: Sequence[Part] = (),
    loss_bound: float = 1.0,
    misses: bool = False,
    consistent: bool = True,
) -> Verdict:
    """Judge a run by its numbers, leading with what counts.

    The order is: a failed consistency check; a bound that the risk has passed; too few rounds; the
    worst group or neighbourhood that is above the target by more than chance; the risk of all
    rounds.

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
    parts : sequence of Part, default empty
        Groups and neighbourhoods.
    loss_bound : float, default 1.0
        The largest possible loss.
    misses : bool, default False
        Whether every loss is 0 or 1: then risks are given in percent.
    consistent : bool, default True
        Whether the consistency check passed.

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
    known = [part for part in parts if _says_something(part, parts, alpha, loss_bound)]
    above = _above(known, alpha, loss_bound)
    if above:
        return Verdict("not kept", words.worst(above))
    limit = deviation(rounds, alpha, loss_bound) + _MARGIN * alpha
    if risk > alpha + limit:
        return Verdict("not kept", f"{words.overall(risk)}.")
    if risk < alpha - limit:
        return Verdict("cautious", f"{words.overall(risk)}: sets are larger than necessary.")
    return Verdict("kept", f"{words.overall(risk)}{words.spread(parts, known)}.")


def counts_misses(parts: Sequence[Part]) -> bool:
    """Whether all losses seem to be 0 or 1: then their sums are whole numbers, to the last bit."""
    return all(round(p.risk * p.rounds) / p.rounds == p.risk for p in parts if p.rounds)


def _above(parts: Sequence[Part], alpha: float, loss_bound: float) -> list[Part]:
    """The parts above the target by more than chance, the worst first."""

    def limit(part: Part) -> float:
        tries = max(_CANDIDATES[part.kind], sum(other.kind == part.kind for other in parts))
        quantile = NormalDist().inv_cdf(1.0 - LEVEL / tries)
        return quantile * part.error(loss_bound) + _MARGIN * alpha

    above = [part for part in parts if part.risk > alpha + limit(part)]
    return sorted(above, key=lambda part: -part.risk)


def _says_something(part: Part, parts: Sequence[Part], alpha: float, loss_bound: float) -> bool:
    """Whether a part has enough rounds, or, with fewer, an excess that chance does not explain."""
    if not is_too_early(part.rounds, alpha, loss_bound):
        return True
    tries = max(_CANDIDATES[part.kind], len(parts))
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

    def spread(self, parts: Sequence[Part], known: Sequence[Part]) -> str:
        kinds: tuple[Kind, ...] = ("group", "neighbourhood")
        texts = [
            self._spread_of(kind, [p for p in parts if p.kind == kind], known) for kind in kinds
        ]
        return "".join(f"; {text}" for text in texts if text)

    def _spread_of(self, kind: Kind, parts: Sequence[Part], known: Sequence[Part]) -> str:
        judged = [part for part in known if part.kind == kind]
        if not parts:
            return ""
        if not judged:
            return f"too early to tell by {kind}"
        left = len(parts) - len(judged)
        few = f" with enough rounds {{}}, {left} with too few" if left else " {}"
        if kind == "neighbourhood":  # only the worst ones are known
            return f"no {kind}" + few.format(f"above {self.number(max(p.risk for p in judged))}")
        reach = self.distance(max(abs(part.risk - self.alpha) for part in judged))
        return f"every {kind}" + few.format(f"within {reach}")


def _rounded_up(value: float) -> float:
    """The value with two digits, never less than it is."""
    if value <= 0.0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-9) * unit
