"""Theorem E: what bettors guarantee, from the running sums of a calibrator.

At every node and side, `G <= min_beta (Lambda + beta^2 W) / beta` with `Lambda = ln(2 K A / p)`. G
adds up (L - alpha) / top with the node's weights, W what these steps cost, p is the node's stake. A
is what all bets were ever granted. The proof is in `docs/guarantees.md`. A bound that the losses
have passed is withdrawn.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from localarc import validation
from localarc.constants import (
    BETS,
    LARGEST_TERM,
    LATE_BET,
    LATE_FACTOR,
    LATE_REACH,
    LATE_RESTART,
    SQUARE,
    STAKE,
    STAKE_ALL,
)
from localarc.engine.auto import layout
from localarc.guarantees.bounds import Bound, Side
from localarc.guarantees.judged import Judged
from localarc.validation import FloatArray

_ROUNDING = 1e-9
_BELOW = "theorem E, below"


@dataclass(frozen=True)
class Ledger:
    """The running sums of a calibrator, at one moment."""

    numbers: FloatArray
    columns: int  # nodes per round, at most
    highest_score: float | None  # a threshold that costs at most alpha, where no ceiling is stated

    def __getitem__(self, index: int) -> float:
        return float(self.numbers[index])

    @property
    def rounds(self) -> float:
        """The rounds that the promise is about: those whose threshold followed from something."""
        return self[layout.ROUNDS] - self[layout.UNINFORMED]

    @property
    def loss_sum(self) -> float:
        """The sum of their losses."""
        return self[layout.LOSS_SUM] - self[layout.UNINFORMED_LOSSES]

    @property
    def two_sided(self) -> bool:
        """Whether there are bets on too few losses."""
        return bool(self[layout.TWO_SIDED])

    @property
    def side(self) -> Side:
        """The side of what is promised about all rounds."""
        return "both" if self.two_sided else "above"

    @property
    def ceiling(self) -> float:
        """A threshold that costs at most alpha: stated, or the largest score."""
        if self[layout.CEILING] < math.inf:
            return self[layout.CEILING]
        if self.highest_score is not None:
            return self.highest_score
        return self[layout.HIGHEST] if self[layout.SCORES] else math.nan

    @property
    def granted(self) -> float:
        """A of theorem E: stakes, and what the limits allow the bets to lose."""
        fixed = self[layout.STAKED] + self[layout.GRANTED]
        if self[layout.UP_INVERSE] == 0.0:
            return fixed
        return fixed + self.ceiling * self[layout.UP_INVERSE] - self[layout.UP_BASE]

    @property
    def paid(self) -> float:
        """What the bets were granted in fact: at most A, without any assumption."""
        return self[layout.STAKED] + self[layout.PAID]

    def most_gain(self, node: FloatArray, stake: float, side: str, total: float) -> float:
        """The largest G of a node that theorem E allows if the bets were granted `total`."""
        up = side == "above"
        cost = node[layout.UP_COST if up else layout.DOWN_COST]
        drop = self[layout.DROP_UP if up else layout.DROP_DOWN]
        return smallest(self.budget(stake, total), float(cost), betas(node, drop))

    def budget(self, stake: float, total: float) -> float:
        """Lambda of a node: a logarithm, continued by its tangent from where bets are capped."""
        most = (2.0 if self.two_sided else 1.0) * BETS * total / stake
        if not most > 0.0:
            return math.inf  # sums that were large have lost what is small to rounding
        return math.log(min(most, LARGEST_TERM)) + max(0.0, most / LARGEST_TERM - 1.0)

    def deviation(self, node: FloatArray) -> float:
        """How far the mean loss at a node is above the target; NaN before the first."""
        weight = float(node[layout.VISITS])
        return self[layout.TOP] * float(node[layout.EXCESS]) / weight if weight else math.nan


def betas(node: FloatArray, drop: float) -> list[float]:
    """The bets that a node may still play."""
    most = float(node[layout.MOST_WEIGHT])
    largest = 0.5 if most <= 0.0 else min(1.0, LATE_BET / drop) / (1.0 + most)
    return [2.0**-k for k in range(1, BETS + 1) if 2.0**-k <= largest]


def smallest(budget: float, cost: float, bets: list[float]) -> float:
    """min over beta of (Lambda + beta^2 W) / beta."""
    return min(((budget + beta * beta * cost) / beta for beta in bets), default=math.inf)


@dataclass(frozen=True)
class NodeCertificate:
    """What was seen at a node (a group, a place, or all rounds), and what is guaranteed there.

    Calibrators make these: `cal.certificate().groups["a"]`. Rounds whose threshold went out before
    anything was known have no nodes.

    Parameters
    ----------
    rounds : float
        The weight of the node's rounds so far.
    alpha : float
        The target.
    risk : float
        The weighted mean of their losses, NaN before the first.
    excess : float
        The weighted sum of `L_t - alpha`.
    worst_stretch : float
        The largest such sum over any stretch of rounds up to now, as far as it was seen.
    above, below : Bound
        How far the risk can be above and below the target.

    Examples
    --------
    >>> from localarc import AutoLARC
    >>> cal = AutoLARC(alpha=0.1, initial_threshold=0.0)
    >>> cal = cal.update([0.0], 1.0, score=0.5, groups="a")
    >>> node = cal.certificate().groups["a"]
    >>> node.rounds, node.risk, round(node.excess, 3)
    (1.0, 1.0, 0.9)
    """

    rounds: float
    alpha: float
    risk: float
    excess: float
    worst_stretch: float
    above: Bound
    below: Bound

    @property
    def bound(self) -> Bound:
        """How far the risk can be from the target: on both sides, or above if that is promised."""
        if self.below.name != _BELOW:
            return dataclasses.replace(self.above, name="theorem E")
        larger = max(self.above, self.below, key=lambda bound: bound.value)
        unmet = tuple(dict.fromkeys((*self.above.unmet, *self.below.unmet)))
        assumes = tuple(dict.fromkeys((*self.above.assumes, *self.below.assumes)))
        return Bound("theorem E", larger.value, assumes, unmet)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rounds": self.rounds,
            "alpha": self.alpha,
            "risk": self.risk if self.rounds else None,
            "excess": self.excess,
            "worst_stretch": self.worst_stretch,
            "above": self.above.to_dict(),
            "below": self.below.to_dict(),
        }

    def __str__(self) -> str:
        return (
            f"mean loss {self.risk:.4f} over {self.rounds:.12g} rounds, target {self.alpha:g}\n"
            f"  {self.above}\n  {self.below}"
        )


@dataclass(frozen=True)
class Place:
    """A place in the space of features: a hat on a grid, what was seen there, and its bound.

    Calibrators return these: `cal.places(10)`, `cal.localized_bound(x)`.

    Parameters
    ----------
    centre : tuple of float or None
        Where the hat is largest, in the units of the features; None in a feature that it ignores.
    width : tuple of float or None
        How far it reaches from there in each feature.
    weight : float
        The weight of its rounds so far.
    risk : float
        The weighted mean of their losses.
    alpha : float
        The target.
    above : Bound
        How far that mean can be above the target.

    Examples
    --------
    >>> above = Bound("theorem E, above", 0.08, ("losses in [0, B]",))
    >>> place = Place((0.5,), (0.25,), weight=400.0, risk=0.13, alpha=0.1, above=above)
    >>> round(place.deviation, 2)
    0.03
    """

    centre: tuple[float | None, ...]
    width: tuple[float | None, ...]
    weight: float
    risk: float
    alpha: float
    above: Bound

    @property
    def deviation(self) -> float:
        """How far the risk is above the target there; negative if it is below."""
        return self.risk - self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "centre": list(self.centre),
            "width": list(self.width),
            "weight": self.weight,
            "risk": self.risk,
            "above": self.above.to_dict(),
        }


@dataclass(frozen=True)
class AutoCertificate(NodeCertificate, Judged):
    """The certificate of AutoLARC and Safeguard: everyone, and each group.

    Parameters
    ----------
    rounds : float
        The number of losses that the promise is about.
    alpha, risk, excess, worst_stretch, above, below
        As of a node, for all rounds.
    observed : Bound
        The bound on `|risk - alpha|` from what the bets were granted in fact, for any data.
    loss_bound : float
        The largest possible loss.
    identity_gap, identity_holds : float, bool
        The consistency check: whether the sum of losses is the one that the bettors saw.
    pending, most_pending : int
        How many losses are pending now, and the largest number that ever was.
    uninformed : int
        How many losses are of rounds that went out before enough scores were known: the full set.
        They are not part of the promise, nor of `rounds` and `risk`.
    evicted, refused : mapping
        How many hats and groups a full table has dropped, and how often it made none.
    groups : mapping
        The certificate of each group, both sides.

    Examples
    --------
    >>> from localarc import AutoLARC
    >>> cal = AutoLARC(alpha=0.1)
    >>> for score in [0.5] * 9 + [0.2, 0.9, 0.4]:
    ...     _ = cal.update(None, float(score > cal.threshold(None)), score)
    >>> certificate = cal.certificate()
    >>> certificate.rounds, certificate.uninformed, certificate.identity_holds
    (3, 9, True)
    """

    observed: Bound
    loss_bound: float
    identity_gap: float
    identity_holds: bool
    pending: int
    most_pending: int
    uninformed: int
    evicted: Mapping[str, int]
    refused: Mapping[str, int]
    groups: Mapping[Hashable, NodeCertificate]
    _ledger: Ledger = field(repr=False, compare=False)
    _node: FloatArray = field(repr=False, compare=False)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """All bounds, in the order in which they are shown."""
        return self.observed, self.above, self.below

    def _exact(self) -> list[AutoCertificate]:
        """All rounds: their losses are added up as they are, those of a group less alpha."""
        return [self]

    @property
    def tightest(self) -> Bound | None:
        """The smallest bound that holds on both sides, else the one above; None if none does."""
        both = [bound for bound in (self.observed, self.bound) if bound.holds]
        if both and self._ledger.two_sided:
            return min(both, key=lambda bound: bound.value)
        return self.above if self.above.holds else None

    def forward(self, rounds: int) -> Bound:
        """A bound on the distance between risk and target at a later round.

        Parameters
        ----------
        rounds : int
            The number of rounds that will have been seen then.
        """
        return forward(self._ledger, self._node, rounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return super().to_dict() | {
            "verdict": self.verdict.text,
            "about": self.about,
            "bounds": [bound.to_dict() for bound in self.bounds],
            "observed": self.observed.to_dict(),
            "identity_gap": self.identity_gap,
            "identity_holds": self.identity_holds,
            "pending": self.pending,
            "most_pending": self.most_pending,
            "uninformed": self.uninformed,
            "evicted": dict(self.evicted),
            "refused": dict(self.refused),
            "groups": {str(group): part.to_dict() for group, part in self.groups.items()},
        }

    def __str__(self) -> str:
        lines = [self.verdict.text, super().__str__(), f"  {self.observed}"]
        if not self.identity_holds:
            lines.append("identity IS BROKEN: losses were lost or repeated")
        lines += [
            f"group {group}: risk {part.risk:.4f} over {part.rounds:g} rounds, {_limits(part)}"
            for group, part in self.groups.items()
        ]
        return "\n".join([*lines, *self.notes, *([self.about] if self.rounds else [])])

    @property
    def about(self) -> str:
        """What the bounds are about: rounds in their order, not the thresholds of one moment."""
        rounds = f"{self.rounds:,} round{'' if self.rounds == 1 else 's'}"
        text = f"about {rounds} in order, each at the threshold that it got"
        if self.most_pending > 1:
            text += (
                f", up to {self.most_pending:,} of them in one batch: as much as "
                f"{self.rounds / self.most_pending:,.0f} learned one by one"
            )
        return f"{text}; a snapshot, the thresholds of one moment, may lose more or less"

    @property
    def notes(self) -> tuple[str, ...]:
        """Rounds that are counted apart, and what happened at the table's capacity."""
        notes = [_apart(self.uninformed)] if self.uninformed else []
        notes += [
            f"{self.evicted[what]} idle {what} were dropped from a full table"
            for what in ("hats", "groups")
            if self.evicted[what]
        ]
        if self.refused["groups"]:
            notes.append(
                f"{self.refused['groups']} times a group had no place in a full table, and no "
                "guarantee: increase max_bytes"
            )
        if self.refused["hats"]:
            notes.append("the table is full: new places share the threshold of coarser ones")
        return tuple(notes)


def _limits(part: NodeCertificate) -> str:
    most, least = part.alpha + part.above.value, part.alpha - part.below.value
    above = f"at most {most:.4g}" if part.above.holds else "no guarantee above"
    below = f"at least {least:.4g}" if part.below.holds else "no guarantee below"
    return f"{above}, {below}"


def certify(ledger: Ledger, node: FloatArray, groups: Mapping[Hashable, FloatArray]) -> Any:
    """The certificate of a calibrator with these sums, constant and groups."""
    whole = certify_node(ledger, node, STAKE_ALL)
    risk = ledger.loss_sum / whole.rounds if whole.rounds else math.nan
    gap = abs(ledger.loss_sum - ledger[layout.ALPHA] * whole.rounds - whole.excess)
    scale = 1.0 + whole.rounds * ledger[layout.BOUND]
    return AutoCertificate(
        rounds=int(ledger.rounds),
        alpha=whole.alpha,
        risk=risk,
        excess=whole.excess,
        worst_stretch=whole.worst_stretch,
        above=whole.above,
        below=whole.below,
        observed=observed(ledger, node),
        loss_bound=ledger[layout.BOUND],
        identity_gap=gap,
        identity_holds=gap <= _ROUNDING * scale,
        pending=int(ledger[layout.PENDING]),
        most_pending=int(ledger[layout.MOST_PENDING]),
        uninformed=int(ledger[layout.UNINFORMED]),
        evicted=_counts(ledger, layout.EVICTED_HATS, layout.EVICTED_GROUPS),
        refused=_counts(ledger, layout.REFUSED_HATS, layout.REFUSED_GROUPS),
        groups={group: certify_node(ledger, part, STAKE) for group, part in groups.items()},
        _ledger=ledger,
        _node=node,
    )


def check_against_log(certificate: AutoCertificate, losses: ArrayLike | None) -> AutoCertificate:
    """The certificate, with its identity checked against a log of losses kept elsewhere."""
    if losses is None:
        return certificate
    logged, ledger = validation.numbers("losses", losses).reshape(-1), certificate._ledger
    apart = ledger[layout.UNINFORMED_LOSSES] - certificate.alpha * certificate.uninformed
    gap = abs(float((logged - certificate.alpha).sum()) - certificate.excess - apart)
    scale = 1.0 + len(logged) * ledger[layout.BOUND]
    same = len(logged) == ledger[layout.ROUNDS] and gap <= _ROUNDING * scale
    holds = certificate.identity_holds and same
    return dataclasses.replace(certificate, identity_gap=gap, identity_holds=holds)


def _apart(rounds: int) -> str:
    many = f"{rounds:,} rounds" if rounds > 1 else "1 round"
    return f"{many} went out before enough scores were known: the full set; not part of the promise"


def _counts(ledger: Ledger, hats: int, groups: int) -> dict[str, int]:
    return {"hats": int(ledger[hats]), "groups": int(ledger[groups])}


def certify_node(ledger: Ledger, node: FloatArray, stake: float) -> NodeCertificate:
    """What was seen and is guaranteed at a node."""
    weight, top = float(node[layout.VISITS]), ledger[layout.TOP]
    excess = top * float(node[layout.EXCESS])
    return NodeCertificate(
        rounds=weight,
        alpha=ledger[layout.ALPHA],
        risk=ledger[layout.ALPHA] + excess / weight if weight else math.nan,
        excess=excess,
        worst_stretch=top * float(node[layout.UP_GAIN]),
        above=above(ledger, node, stake),
        below=below(ledger, node, stake),
    )


def certify_place(ledger: Ledger, node: FloatArray, centre: Any, width: Any) -> Place:
    """What was seen and is guaranteed at a hat; hats only bet on too many losses."""
    weight = float(node[layout.VISITS])
    excess = ledger[layout.TOP] * float(node[layout.EXCESS])
    alpha = ledger[layout.ALPHA]
    bound = above(ledger, node, STAKE)
    return Place(centre, width, weight, alpha + excess / weight, alpha, bound)


def above(ledger: Ledger, node: FloatArray, stake: float) -> Bound:
    """How far the mean loss at a node can be above the target."""
    gain = ledger.most_gain(node, stake, "above", ledger.granted) + ledger[layout.LOST_UP]
    limit = ledger[layout.BOUND] - ledger[layout.ALPHA]
    unmet = [*_started(node), *_broken_ceiling(ledger)]
    value = _mean(ledger, node, gain, limit)
    assumes = _A1, _ceiling(ledger)
    bound = Bound("theorem E, above", value, assumes, tuple(unmet), side="above")
    return bound.beside(ledger.deviation(node))


def below(ledger: Ledger, node: FloatArray, stake: float) -> Bound:
    """How far the mean loss at a node can be below the target."""
    alpha = ledger[layout.ALPHA]
    if not ledger.two_sided:
        return Bound("not below 0", alpha, ("losses are not negative",), _started(node), "below")
    gain = ledger.most_gain(node, stake, "below", ledger.granted) + ledger[layout.LOST_DOWN]
    unmet = [*_started(node), *_broken_floor(ledger)]
    assumes = (_A1, _ceiling(ledger), *_floor(ledger))
    value = _mean(ledger, node, gain, alpha)
    return Bound(_BELOW, value, assumes, tuple(unmet), "below").beside(ledger.deviation(node))


def observed(ledger: Ledger, node: FloatArray) -> Bound:
    """`|risk - alpha|` over all rounds, from what the bets were granted in fact."""
    up = ledger.most_gain(node, STAKE_ALL, "above", ledger.paid) + ledger[layout.LOST_UP]
    limit, alpha = ledger[layout.BOUND] - ledger[layout.ALPHA], ledger[layout.ALPHA]
    value = _mean(ledger, node, up, limit)
    if ledger.two_sided:
        down = ledger.most_gain(node, STAKE_ALL, "below", ledger.paid)
        value = max(value, _mean(ledger, node, down + ledger[layout.LOST_DOWN], alpha))
    assumes = ("the running sums are complete",)
    bound = Bound("observed (bets)", value, assumes, _started(node), ledger.side)
    return bound.beside(ledger.deviation(node))


def _mean(ledger: Ledger, node: FloatArray, gain: float, limit: float) -> float:
    """A bound on a sum of z as one on the mean of L - alpha, which has a limit anyway."""
    weight = float(node[layout.VISITS])
    return min(ledger[layout.TOP] * gain / weight, limit) if weight else math.inf


_A1 = "losses in [0, B]"


def _started(node: FloatArray) -> tuple[str, ...]:
    return () if node[layout.VISITS] > 0.0 else ("no round has been seen",)


def _ceiling(ledger: Ledger) -> str:
    if ledger[layout.CEILING] < math.inf:
        return f"the ceiling {ledger.ceiling:.4g} costs at most alpha"
    source = "as stated" if ledger.highest_score is not None else "the largest score seen"
    return f"thresholds of at least {ledger.ceiling:.4g}, {source}, cost at most alpha"


def _floor(ledger: Ledger) -> tuple[str, ...]:
    if ledger[layout.FLOOR] == -math.inf:
        return ()
    return (f"the floor {ledger[layout.FLOOR]:.4g} costs at least alpha",)


def _broken_ceiling(ledger: Ledger) -> list[str]:
    if ledger[layout.CEILING_FAILS]:
        count, since = int(ledger[layout.CEILING_FAILS]), int(ledger[layout.CEILING_SINCE])
        return [f"the ceiling cost more than alpha in {count} round(s), since round {since}"]
    if ledger[layout.CEILING] == math.inf and ledger[layout.COSTLIEST] >= ledger.ceiling:
        return [
            f"a threshold of {ledger[layout.COSTLIEST]:.4g} cost more than alpha, although no "
            f"score is above {ledger.ceiling:.4g}"
        ]
    if ledger[layout.UP_INVERSE] and math.isnan(ledger.ceiling):
        return ["no score was seen, and no ceiling is stated: pass scores, or limits"]
    return []


def _broken_floor(ledger: Ledger) -> list[str]:
    if ledger[layout.FLOOR_FAILS]:
        count, since = int(ledger[layout.FLOOR_FAILS]), int(ledger[layout.FLOOR_SINCE])
        return [f"the floor cost less than alpha in {count} round(s), since round {since}"]
    return _broken_ceiling(ledger)  # A rests on both


def forward(ledger: Ledger, node: FloatArray, rounds: int) -> Bound:
    """For the mean loss at a later round, if units, scores and delays stay as they were."""
    hint = "It must be a round that is still to come."
    seen = int(ledger.rounds)
    ahead = validation.integer("rounds", rounds, seen + 1, hint) - seen
    total = ledger.granted + ahead * growth(ledger)
    budget = ledger.budget(STAKE_ALL, total)
    values = [_forward_side(ledger, node, budget, ahead, rounds, up=True)]
    now = [above(ledger, node, STAKE_ALL)]
    if ledger.two_sided:
        values.append(_forward_side(ledger, node, budget, ahead, rounds, up=False))
        now.append(below(ledger, node, STAKE_ALL))
    unmet = [*dict.fromkeys(reason for bound in now for reason in bound.unmet)]
    if seen and math.isnan(ledger.ceiling):
        unmet.append("no score has been seen")
    assumes = (
        *(_A1, _ceiling(ledger), *_floor(ledger)),
        "units, the range of scores and the number of pending losses stay as seen",
        "no more thresholds at a limit that is not stated",
    )
    bound = Bound(f"forward to T = {rounds}", max(values), assumes, tuple(unmet), ledger.side)
    return bound.beside(_least_deviation(ledger, node, ahead, rounds))


def _least_deviation(ledger: Ledger, node: FloatArray, ahead: int, rounds: int) -> float:
    """The least deviation from the target that any `ahead` more rounds can leave."""
    low, high = -ledger[layout.ALPHA], ledger[layout.BOUND] - ledger[layout.ALPHA]
    so_far = ledger[layout.TOP] * float(node[layout.EXCESS])
    return min(max(0.0, (so_far + ahead * low) / rounds), (so_far + ahead * high) / rounds)


def growth(ledger: Ledger) -> float:
    """How much A can grow in a round."""
    floor = ledger[layout.FLOOR]
    if floor == -math.inf:
        floor = 2.0 * ledger[layout.LOWEST] - ledger[layout.HIGHEST]
    reach = (ledger.ceiling - floor) / ledger[layout.SMALLEST_UNIT]
    stakes = STAKE_ALL + STAKE * ledger.columns
    return reach + (1.0 + LATE_RESTART) * stakes


def _forward_side(
    ledger: Ledger, node: FloatArray, budget: float, ahead: int, rounds: int, *, up: bool
) -> float:
    drop = ledger[layout.DROP_UP if up else layout.DROP_DOWN]
    most = float(node[layout.MOST_WEIGHT])
    late = LATE_FACTOR * drop * (drop + LATE_REACH * drop * most) if most else 0.0
    step = max(SQUARE + most, late)  # the largest cost of a round
    cost = float(node[layout.UP_COST if up else layout.DOWN_COST]) + ahead * step
    gain = smallest(budget, cost, betas(node, drop))
    gain += ledger[layout.LOST_UP if up else layout.LOST_DOWN]
    limit = ledger[layout.BOUND] - ledger[layout.ALPHA] if up else ledger[layout.ALPHA]
    return min(ledger[layout.TOP] * gain / rounds, limit)
