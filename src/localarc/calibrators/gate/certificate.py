"""The certificate of a gate: theorem E for the share of wrong answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from localarc.betting.certificate import AutoCertificate
from localarc.betting.node_certificate import NodeCertificate
from localarc.calibrators.gate.summary import GateSummary
from localarc.calibrators.gate.terms import GateTerms
from localarc.guarantees.bounds import Bound
from localarc.guarantees.verdict import Part, Verdict

_NAME = "theorem E, above"


@dataclass(frozen=True)
class GateCertificate(AutoCertificate):
    """The certificate of a gate: rounds are answers, the risk is the share of wrong ones.

    Parameters
    ----------
    rounds, alpha, risk, excess, worst_stretch, above, below
        As of a node, for all answers. `worst_stretch` is in wrong answers beyond target and
        credit.
    observed, loss_bound, consistency_gap, consistent, pending, most_pending, evicted, refused
        As of `AutoCertificate`.
    groups : mapping
        The certificate of each topic.
    summary : GateSummary
        The promise from which the bounds follow.

    Examples
    --------
    >>> from localarc import Gate
    >>> gate = Gate(wrong_at_most=0.1)
    >>> gate = gate.tell(gate.decide("billing", confidence=0.99), wrong=False)
    >>> certificate = gate.certificate()
    >>> certificate.rounds, certificate.risk, certificate.groups["billing"].rounds
    (1, 0.0, 1.0)
    """

    summary: GateSummary

    def forward(self, rounds: int) -> Bound:
        """There is none.

        Parameters
        ----------
        rounds : int
            Ignored.
        """
        raise ValueError(
            "a gate has no forward bound, since it is unknown how many of the rounds ahead it will "
            "answer. Use gate.summary(): target x answered + credit x withheld + bound."
        )

    def judge(self, parts: Sequence[Part], size_ratio: float = math.nan) -> Verdict:
        """The verdict of the summary, which knows the topics.

        Parameters
        ----------
        parts, size_ratio
            Ignored.
        """
        return self.summary.verdict


def certify(summary: GateSummary, charged: AutoCertificate) -> GateCertificate:
    """The certificate of a gate, given its promise and theorem E for what its bettors saw."""
    groups = {
        name: NodeCertificate(**_node(part, charged.groups.get(name)))
        for name, part in summary.topics.items()
    }
    fields: dict[str, Any] = vars(charged) | _node(summary, charged)
    return GateCertificate(
        **fields
        | {
            "rounds": int(summary.answered),
            "observed": fields["above"],
            "consistent": charged.consistent and summary.consistent,
            "groups": groups,
            "summary": summary,
        }
    )


def _node(part: GateTerms, charged: NodeCertificate | None) -> dict[str, Any]:
    """What was seen and is guaranteed for everyone or a topic."""
    answered, limit = part.answered, 1.0 - part.alpha
    value = min((part.limit / answered) - part.alpha, limit) if answered else math.inf
    unmet = () if answered else ("no outcome is known",)
    above = Bound(_NAME, value, (), unmet, side="above")
    return {
        "rounds": answered,
        "alpha": part.alpha,
        "risk": part.wrong_share,
        "excess": part.wrong - part.alpha * answered,
        "worst_stretch": charged.worst_stretch if charged is not None else math.inf,
        "above": above.beside(part.wrong_share - part.alpha),
        "below": Bound("not below 0", part.alpha, (), unmet, "below"),
    }
