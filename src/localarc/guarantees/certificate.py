"""The certificate: what can be said about the mean loss of a run, and on what it rests."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.running_constant import RunningConstant
from localarc.calibrators.settings import Settings
from localarc.guarantees import theorems
from localarc.guarantees.bounds import Bound, Evidence
from localarc.guarantees.drift import NormSums

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Certificate:
    """Observed risk, the identity check, and bounds on `|risk - alpha|`.

    `accounted` is what the trace of c says that the losses exceeded alpha by, in all.
    `identity_holds` compares it with the losses themselves. Without outside `losses` those are the
    calibrator's own sums, and the check finds a damaged calibrator; with them, it also finds
    updates that were lost or doubled, or a stale state that was restored.
    """

    rounds: int
    alpha: float
    risk: float
    accounted: float
    identity_gap: float
    identity_holds: bool
    observed: Bound
    theorem_a: Bound
    theorem_b: Bound
    paper: Bound
    outstanding: int = 0
    groups: Mapping[Hashable, Certificate] = field(default_factory=dict)
    _scale: float = field(default=1.0, repr=False, compare=False)  # of what the identity sums
    _forward: Callable[[int], Bound] | None = field(default=None, repr=False, compare=False)

    @property
    def bound(self) -> Bound:
        """The smaller of theorems A and B, among those that hold."""
        choices = [b for b in (self.theorem_a, self.theorem_b) if b.holds] or [self.theorem_a]
        return min(choices, key=lambda b: b.value)

    def forward(self, rounds: int) -> Bound:
        """A bound on `|risk - alpha|` once so many rounds have been seen."""
        if self._forward is None:
            raise ValueError(
                "no forward bound across groups, since how rounds will be split among them is not "
                "known. Ask one group: certificate.groups[group].forward(rounds)."
            )
        return self._forward(rounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rounds": self.rounds,
            "alpha": self.alpha,
            "risk": self.risk if self.rounds else None,
            "outstanding": self.outstanding,
            "identity_gap": self.identity_gap,
            "identity_holds": self.identity_holds,
            "bounds": [bound.to_dict() for bound in self._bounds()],
            "groups": {str(group): part.to_dict() for group, part in self.groups.items()},
        }

    def _bounds(self) -> tuple[Bound, ...]:
        return self.observed, self.theorem_a, self.theorem_b, self.paper

    def __str__(self) -> str:
        identity = "holds" if self.identity_holds else "IS BROKEN: losses were lost or doubled"
        lines = [
            f"mean loss {self.risk:.4f} over {self.rounds} rounds, target {self.alpha}",
            f"identity {identity} (gap {self.identity_gap:.1e})",
            "|mean loss - target| is at most",
            *(f"  {bound}" for bound in self._bounds()),
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Identity:
    """What the trace of c accounts for, and by how much the losses differ from it."""

    accounted: float
    gap: float
    scale: float

    @property
    def holds(self) -> bool:
        """Whether the difference is rounding."""
        return self.gap <= _ROUNDING * self.scale


def identity(settings: Settings, trace: RunningConstant) -> Identity:
    """`sum_t (L_t - alpha) = sum_r Delta_r (c_(T+1) - c_r)`, which any run must satisfy."""
    accounted = trace.constant * trace.inverse_rate - trace.weighted
    size = max(abs(trace.lowest), abs(trace.highest)) * trace.inverse_rate
    scale = 1.0 + trace.rounds * settings.loss_bound + 2.0 * size
    gap = abs(trace.loss_sum - settings.alpha * trace.rounds - accounted)
    return Identity(accounted, gap, scale)


def certify(
    settings: Settings,
    trace: RunningConstant,
    evidence: Evidence,
    norms: NormSums | None,
    outstanding: int,
    input_bound: float | None,
    dimension: int | None,
) -> Certificate:
    """The certificate of one calibrator."""
    trace = copy.copy(trace)  # the certificate speaks of this moment, also when asked later
    sums = identity(settings, trace)
    return Certificate(
        rounds=trace.rounds,
        alpha=settings.alpha,
        risk=trace.risk,
        accounted=sums.accounted,
        identity_gap=sums.gap,
        identity_holds=sums.holds,
        observed=theorems.observed(trace),
        theorem_a=theorems.theorem_a(settings, trace, evidence, outstanding),
        theorem_b=theorems.theorem_b(settings, trace, evidence, norms, outstanding),
        paper=theorems.paper(settings, trace, evidence, input_bound, dimension, outstanding),
        outstanding=outstanding,
        _scale=sums.scale,
        _forward=lambda rounds: theorems.forward(settings, trace, evidence, outstanding, rounds),
    )


def audited(certificate: Certificate, losses: ArrayLike | None) -> Certificate:
    """The certificate with its identity checked against losses that were kept elsewhere."""
    if losses is None:
        return certificate
    told = validation.numbers("losses", losses).reshape(-1)
    gap = abs(float((told - certificate.alpha).sum()) - certificate.accounted)
    same = len(told) == certificate.rounds and gap <= _ROUNDING * certificate._scale
    holds = certificate.identity_holds and same
    return dataclasses.replace(certificate, identity_gap=gap, identity_holds=holds)


def doubted(certificate: Certificate, reasons: tuple[str, ...]) -> Certificate:
    """The certificate, with reasons against all of its bounds that rest on assumptions."""

    def against(bound: Bound) -> Bound:
        return dataclasses.replace(bound, unmet=(*bound.unmet, *reasons))

    return dataclasses.replace(
        certificate,
        theorem_a=against(certificate.theorem_a),
        theorem_b=against(certificate.theorem_b),
        paper=against(certificate.paper),
    )


def combine(groups: Mapping[Hashable, Certificate], alpha: float) -> Certificate:
    """The certificate over all groups: deviations average, weighted by rounds."""
    parts = [part for part in groups.values() if part.rounds]
    rounds = sum(part.rounds for part in parts)

    def mean(value: Callable[[Certificate], float]) -> float:
        return sum(part.rounds * value(part) for part in parts) / rounds if rounds else math.nan

    def joint(pick: Callable[[Certificate], Bound]) -> Bound:
        bounds = [pick(part) for part in parts]
        if not bounds:
            return Bound("no group", math.inf, (), ("no round has been seen",))
        unmet = tuple(dict.fromkeys(reason for bound in bounds for reason in bound.unmet))
        return Bound(bounds[0].name, mean(lambda p: pick(p).value), bounds[0].assumes, unmet)

    return Certificate(
        rounds=rounds,
        alpha=alpha,
        risk=mean(lambda part: part.risk),
        accounted=sum(part.accounted for part in parts),
        identity_gap=sum(part.identity_gap for part in parts),
        identity_holds=all(part.identity_holds for part in parts),
        observed=joint(lambda part: part.observed),
        theorem_a=joint(lambda part: part.theorem_a),
        theorem_b=joint(lambda part: part.theorem_b),
        paper=joint(lambda part: part.paper),
        outstanding=max((part.outstanding for part in parts), default=0),
        groups=dict(groups),
        _scale=sum(part._scale for part in parts),
    )
