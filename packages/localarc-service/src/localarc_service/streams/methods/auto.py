"""AutoLARC: groups overlap, losses come with scores, and predictions have tickets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localarc import AutoLARC
from localarc.guarantees import Bound, Evidence
from localarc.guarantees.assumptions import Lateness
from localarc.guarantees.theorem_e import AutoCertificate
from localarc.validation import FloatArray
from localarc_service.storage.format import Group, Pending, Score
from localarc_service.streams.methods.base import Method, ticket_of
from localarc_service.streams.state import StreamState


class AutoMethod(Method[AutoLARC]):
    """Thresholds for every place and group, with nothing to tune."""

    def threshold(self, x: FloatArray, group: Group) -> float:
        """The threshold for an input of these groups."""
        return float(self.calibrator.threshold(x, groups=_groups(group)))

    def ask(self, x: FloatArray, group: Group) -> int:
        """The ticket of a prediction."""
        return self.calibrator.ask(x, groups=_groups(group)).id

    def is_informed(self, group: Group) -> bool:
        """Whether enough scores are known for a threshold."""
        return self.calibrator.is_informed

    @property
    def uninformed(self) -> tuple[int, float]:
        """How many losses are no part of the promise, and their sum."""
        return self.calibrator.uninformed

    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn from a loss and its score."""
        if score is None and self.calibrator.requires_scores:
            raise ValueError(
                "method auto learns from scores. Send score with the loss, the smallest threshold "
                "whose loss is at most alpha, or, if the stream has a set, the outcome instead of "
                "the loss. To learn from losses alone, create a stream with unit, a typical "
                "difference between scores, and limits, such as [0.0, null]; or with method arc."
            )
        told = None if score is None else float(score)
        self.calibrator.tell(ticket_of(pending), loss, told)

    def forget(self, pending: Pending) -> None:
        """The loss of a prediction will never be known."""
        self.calibrator.forget(ticket_of(pending))

    def tickets(self) -> Mapping[int, float]:
        """The threshold of each pending ticket."""
        return {ticket.id: ticket.threshold for ticket in self.calibrator.pending}

    @property
    def rounds(self) -> int:
        """The number of losses learned from."""
        return self.calibrator.rounds

    @property
    def loss_sum(self) -> float:
        """The sum of these losses."""
        return self.calibrator.loss_sum

    @property
    def consistent(self) -> bool:
        """Whether the bettors saw the losses that were summed up, as the certificate checks it."""
        return self.calibrator.identity_holds

    @property
    def pending(self) -> int:
        """The number of pending tickets."""
        return self.calibrator.pending_count

    def certificate(self, late: Lateness | None = None) -> AutoCertificate:
        """Theorem E, given the stated range of scores; tickets know what was pending."""
        stated = self.config.score_range
        return self.calibrator.certificate(evidence=None if stated is None else Evidence(stated))

    def bound(self, certificate: Any) -> Bound:
        """Theorem E on both sides, or the side that is guaranteed."""
        both: Bound = certificate.bound
        return both if both.holds and self.config.promise == "both" else certificate.above

    def problems(self, state: StreamState) -> list[str]:
        """Why a guarantee was withdrawn, and whether the table of nodes is too small."""
        if not self.rounds:
            return []
        certificate = self.certificate()
        reasons = dict.fromkeys((*certificate.above.unmet, *certificate.below.unmet))
        found = [f"The guarantee is withdrawn: {reason}." for reason in reasons]
        if certificate.refused["groups"]:
            found.append(
                f"{certificate.refused['groups']} times a group had no place in the full table of "
                "nodes, and no guarantee. Try memory nodes with "
                f"max_bytes={2 * self.calibrator.settings.max_bytes}."
            )
        return found

    @property
    def memory(self) -> str:
        """The table of nodes."""
        return f"Nodes(max_bytes={self.calibrator.settings.max_bytes})"

    @property
    def memory_bytes(self) -> int:
        """Its size; before the first round, how large it will be at most."""
        return self.calibrator.nbytes or self.calibrator.settings.max_bytes


def _groups(group: Group) -> Any:
    return () if group is None else group
