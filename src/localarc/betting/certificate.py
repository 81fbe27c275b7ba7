"""The certificate of a calibrator with bettors: theorem E for all rounds and each group."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from localarc import validation
from localarc.betting.bounds import above, below, forward, observed
from localarc.betting.node_certificate import NodeCertificate, Place
from localarc.betting.sums import Sums
from localarc.constants import STAKE, STAKE_ALL
from localarc.engine.auto import layout
from localarc.guarantees.bounds import Bound
from localarc.guarantees.judged import Judged
from localarc.validation import FloatArray

_ROUNDING = 1e-9


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
    consistency_gap, consistent : float, bool
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
    >>> certificate.rounds, certificate.uninformed, certificate.consistent
    (3, 9, True)
    """

    observed: Bound
    loss_bound: float
    consistency_gap: float
    consistent: bool
    pending: int
    most_pending: int
    uninformed: int
    evicted: Mapping[str, int]
    refused: Mapping[str, int]
    groups: Mapping[Hashable, NodeCertificate]
    _sums: Sums = field(repr=False, compare=False)
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
        if both and self._sums.two_sided:
            return min(both, key=lambda bound: bound.value)
        return self.above if self.above.holds else None

    def forward(self, rounds: int) -> Bound:
        """A bound on the distance between risk and target at a later round.

        Parameters
        ----------
        rounds : int
            The number of rounds that will have been seen then.
        """
        return forward(self._sums, self._node, rounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return super().to_dict() | {
            "verdict": self.verdict.text,
            "about": self.about,
            "bounds": [bound.to_dict() for bound in self.bounds],
            "observed": self.observed.to_dict(),
            "consistency_gap": self.consistency_gap,
            "consistent": self.consistent,
            "pending": self.pending,
            "most_pending": self.most_pending,
            "uninformed": self.uninformed,
            "evicted": dict(self.evicted),
            "refused": dict(self.refused),
            "groups": {str(group): part.to_dict() for group, part in self.groups.items()},
        }

    def __str__(self) -> str:
        lines = [self.verdict.text, super().__str__(), f"  {self.observed}"]
        if not self.consistent:
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


def certify(
    sums: Sums,
    node: FloatArray,
    groups: Mapping[Hashable, FloatArray],
    losses: ArrayLike | None = None,
) -> AutoCertificate:
    """The certificate of a calibrator with these sums, constant and groups.

    With a log of losses that was kept elsewhere, its identity is checked against that.
    """
    whole = certify_node(sums, node, STAKE_ALL)
    risk = sums.loss_sum / whole.rounds if whole.rounds else math.nan
    gap = abs(sums.loss_sum - sums[layout.ALPHA] * whole.rounds - whole.excess)
    scale = 1.0 + whole.rounds * sums[layout.BOUND]
    fields: dict[str, Any] = vars(whole) | {"rounds": int(sums.rounds), "risk": risk}
    certificate = AutoCertificate(
        **fields,
        observed=observed(sums, node),
        loss_bound=sums[layout.BOUND],
        consistency_gap=gap,
        consistent=gap <= _ROUNDING * scale,
        pending=int(sums[layout.PENDING]),
        most_pending=int(sums[layout.MOST_PENDING]),
        uninformed=int(sums[layout.UNINFORMED]),
        evicted=_counts(sums, layout.EVICTED_HATS, layout.EVICTED_GROUPS),
        refused=_counts(sums, layout.REFUSED_HATS, layout.REFUSED_GROUPS),
        groups={group: certify_node(sums, part, STAKE) for group, part in groups.items()},
        _sums=sums,
        _node=node,
    )
    return certificate if losses is None else _checked(certificate, sums, losses)


def _checked(certificate: AutoCertificate, sums: Sums, losses: ArrayLike) -> AutoCertificate:
    """The certificate, with its identity checked against a log of losses."""
    logged = validation.numbers("losses", losses).reshape(-1)
    apart = sums[layout.UNINFORMED_LOSSES] - certificate.alpha * certificate.uninformed
    gap = abs(float((logged - certificate.alpha).sum()) - certificate.excess - apart)
    scale = 1.0 + len(logged) * sums[layout.BOUND]
    same = len(logged) == sums[layout.ROUNDS] and gap <= _ROUNDING * scale
    holds = certificate.consistent and same
    return dataclasses.replace(certificate, consistency_gap=gap, consistent=holds)


def _apart(rounds: int) -> str:
    many = f"{rounds:,} rounds" if rounds > 1 else "1 round"
    return f"{many} went out before enough scores were known: the full set; not part of the promise"


def _counts(sums: Sums, hats: int, groups: int) -> dict[str, int]:
    return {"hats": int(sums[hats]), "groups": int(sums[groups])}


def certify_node(sums: Sums, node: FloatArray, stake: float) -> NodeCertificate:
    """What was seen and is guaranteed at a node."""
    return NodeCertificate(
        rounds=float(node[layout.VISITS]),
        alpha=sums[layout.ALPHA],
        risk=sums[layout.ALPHA] + sums.deviation(node),
        excess=sums.excess(node),
        worst_stretch=sums[layout.TOP] * float(node[layout.UP_GAIN]),
        above=above(sums, node, stake),
        below=below(sums, node, stake),
    )


def certify_place(sums: Sums, node: FloatArray, centre: Any, width: Any) -> Place:
    """What was seen and is guaranteed at a hat; hats only bet on too many losses."""
    weight, alpha = float(node[layout.VISITS]), sums[layout.ALPHA]
    risk = alpha + sums.deviation(node)
    return Place(centre, width, weight, risk, alpha, above(sums, node, STAKE))
