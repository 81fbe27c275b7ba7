"""The certificate: what is guaranteed about the mean loss of a run, under which assumptions."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from localarc import validation
from localarc.adaptive.running_constant import RunningConstant
from localarc.adaptive.settings import Settings
from localarc.guarantees import theorems
from localarc.guarantees.assumptions import Lateness
from localarc.guarantees.bounds import Bound, Evidence
from localarc.guarantees.drift import NormSums
from localarc.guarantees.judged import Judged

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Certificate(Judged):
    """The observed risk, the consistency check, and bounds on `|risk - alpha|`.

    Calibrators make certificates: `cal.certificate()`.

    Parameters
    ----------
    rounds : int
        The number of losses that the calibrator has learned from.
    alpha : float
        The target.
    risk : float
        The mean loss so far, NaN before the first.
    accounted : float
        The sum of `L_t - alpha` over all rounds, as the running constant accounts for it.
    consistency_gap, consistent : float, bool
        The consistency check: how far the losses themselves differ from `accounted`, and whether
        that is rounding. Without a log of `losses` these are the calibrator's own sums, and the
        check finds a damaged calibrator; with one, it also finds updates that were lost or
        repeated, or an outdated state that was restored.
    observed : Bound
        The bound from the running constant alone, for any data.
    theorem_a, theorem_b : Bound
        The bounds of the guarantees page; `bound` is the smaller one of those that hold.
    at_most : Bound
        The one-sided bound, `risk - alpha <= value`, for a calibrator with a floor.
    paper : Bound
        The paper's own bound.
    pending : int, default 0
        The largest number of losses that were pending beside one that was learned, as counted from
        tickets or stated.
    groups : mapping, default empty
        The certificate of each group, for `Mondrian`.
    loss_bound : float, default 1.0
        The largest possible loss.

    Examples
    --------
    >>> from localarc import ARC
    >>> cal = ARC(alpha=0.1, score_range=(-2.0, 2.0)).partial_fit([[0.0]] * 100, [1.0, *[0.0] * 99])
    >>> certificate = cal.certificate()
    >>> certificate.risk, certificate.consistent, round(certificate.bound.value, 2)
    (0.01, True, 0.5)
    """

    rounds: int
    alpha: float
    risk: float
    accounted: float
    consistency_gap: float
    consistent: bool
    observed: Bound
    theorem_a: Bound
    theorem_b: Bound
    at_most: Bound
    paper: Bound
    pending: int = 0
    groups: Mapping[Hashable, Certificate] = field(default_factory=dict)
    loss_bound: float = 1.0
    _scale: float = field(default=1.0, repr=False, compare=False)  # of what the identity sums
    _forward: Callable[[int], Bound] | None = field(default=None, repr=False, compare=False)

    @property
    def bound(self) -> Bound:
        """The smaller of theorems A and B, among those that hold; else the one-sided bound."""
        choices = [b for b in (self.theorem_a, self.theorem_b) if b.holds]
        if not choices:
            return self.at_most if self.at_most.holds else self.theorem_a
        return min(choices, key=lambda b: b.value)

    def forward(self, rounds: int) -> Bound:
        """A bound on `|risk - alpha|` at a later round.

        Parameters
        ----------
        rounds : int
            The number of rounds that will have been seen then.
        """
        if self._forward is None:
            raise ValueError(
                "there is no forward bound across groups, since it is unknown how rounds will be "
                "split among them. Use one group's: certificate.groups[group].forward(rounds)."
            )
        return self._forward(rounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rounds": self.rounds,
            "alpha": self.alpha,
            "risk": self.risk if self.rounds else None,
            "pending": self.pending,
            "verdict": self.verdict.text,
            "consistency_gap": self.consistency_gap,
            "consistent": self.consistent,
            "bounds": [bound.to_dict() for bound in self.bounds],
            "groups": {str(group): part.to_dict() for group, part in self.groups.items()},
        }

    @property
    def tightest(self) -> Bound | None:
        """The smallest bound that holds, if one does; with a floor, the one-sided bound."""
        if self.at_most.holds:
            return self.at_most
        holding = [bound for bound in self.bounds if bound.holds]
        return min(holding, key=lambda bound: bound.value, default=None)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """All bounds, in the order in which they are shown."""
        one_sided = (self.at_most,) if math.isfinite(self.at_most.value) else ()
        return self.observed, self.theorem_a, self.theorem_b, *one_sided, self.paper

    def __str__(self) -> str:
        identity = "holds" if self.consistent else "IS BROKEN: losses were lost or repeated"
        tightest = self.tightest
        others = [bound for bound in self.bounds if bound is not tightest]
        lines = [
            self.verdict.text,
            f"mean loss {self.risk:.4f} over {self.rounds} rounds, target {self.alpha:g}",
            "guaranteed:",
            *(f"  {bound}" for bound in ([tightest] if tightest else []) + others),
            f"identity {identity} (gap {self.consistency_gap:.1e})",
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Identity:
    """What the running constant accounts for, and how far the losses differ from it."""

    accounted: float
    gap: float
    scale: float

    @property
    def holds(self) -> bool:
        """Whether the difference is rounding."""
        return self.gap <= _ROUNDING * self.scale


def identity(settings: Settings, constant: RunningConstant) -> Identity:
    """`sum_t (L_t - alpha) = sum_r Delta_r (c_(T+1) - c_r) - lifted`, for any run."""
    accounted = constant.constant * constant.inverse_rate - constant.weighted - constant.lifted
    size = (abs(constant.lowest) + abs(constant.highest)) * constant.inverse_rate
    scale = 1.0 + constant.rounds * settings.loss_bound + 2.0 * size + constant.lifted
    gap = abs(constant.loss_sum - settings.alpha * constant.rounds - accounted)
    return Identity(accounted, gap, scale)


def certify(
    settings: Settings,
    constant: RunningConstant,
    evidence: Evidence,
    norms: NormSums | None,
    late: Lateness,
    input_bound: float | None,
    dimension: int | None,
) -> Certificate:
    """The certificate of one calibrator."""
    constant = copy.copy(constant)  # the certificate describes this moment, also when read later
    sums = identity(settings, constant)
    deviation = constant.risk - settings.alpha
    return Certificate(
        rounds=constant.rounds,
        alpha=settings.alpha,
        risk=constant.risk,
        accounted=sums.accounted,
        consistency_gap=sums.gap,
        consistent=sums.holds,
        observed=theorems.observed(constant),
        theorem_a=theorems.theorem_a(settings, constant, evidence, late).beside(deviation),
        theorem_b=theorems.theorem_b(settings, constant, evidence, norms, late).beside(deviation),
        at_most=theorems.at_most(settings, constant, evidence, late).beside(deviation),
        paper=theorems.paper(settings, constant, evidence, input_bound, dimension, late).beside(
            deviation
        ),
        pending=late.pending,
        loss_bound=settings.loss_bound,
        _scale=sums.scale,
        _forward=lambda rounds: theorems.forward(settings, constant, evidence, late, rounds),
    )


def check_against_log(certificate: Certificate, losses: ArrayLike | None) -> Certificate:
    """The certificate, with its identity checked against a log of losses kept elsewhere."""
    if losses is None:
        return certificate
    logged = validation.numbers("losses", losses).reshape(-1)
    gap = abs(float((logged - certificate.alpha).sum()) - certificate.accounted)
    same = len(logged) == certificate.rounds and gap <= _ROUNDING * certificate._scale
    holds = certificate.consistent and same
    return dataclasses.replace(certificate, consistency_gap=gap, consistent=holds)


def with_unmet(certificate: Certificate, reasons: tuple[str, ...]) -> Certificate:
    """The certificate, with unmet assumptions added to all bounds that have any."""
    forward = certificate._forward
    return dataclasses.replace(
        certificate,
        theorem_a=certificate.theorem_a.without(*reasons),
        theorem_b=certificate.theorem_b.without(*reasons),
        at_most=certificate.at_most.without(*reasons),
        paper=certificate.paper.without(*reasons),
        _forward=forward and (lambda rounds: forward(rounds).without(*reasons)),
    )


def combine_groups(groups: Mapping[Hashable, Certificate], alpha: float) -> Certificate:
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
        first, value = bounds[0], mean(lambda part: pick(part).value)
        return Bound(first.name, value, first.assumes, unmet, first.side)

    return Certificate(
        rounds=rounds,
        alpha=alpha,
        risk=mean(lambda part: part.risk),
        accounted=sum(part.accounted for part in parts),
        consistency_gap=sum(part.consistency_gap for part in parts),
        consistent=all(part.consistent for part in parts),
        observed=joint(lambda part: part.observed),
        theorem_a=joint(lambda part: part.theorem_a),
        theorem_b=joint(lambda part: part.theorem_b),
        at_most=joint(lambda part: part.at_most),
        paper=joint(lambda part: part.paper),
        pending=max((part.pending for part in parts), default=0),
        groups=dict(groups),
        loss_bound=max((part.loss_bound for part in parts), default=1.0),
        _scale=sum(part._scale for part in parts),
    )
