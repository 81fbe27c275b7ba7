"""Mondrian: one ARC per group. A prediction has one group, and a ticket."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from localarc import ARC, Mondrian
from localarc.guarantees import Certificate
from localarc.guarantees.assumptions import Lateness
from localarc.validation import FloatArray
from localarc_service.storage.format import Group, Pending, Score
from localarc_service.streams.methods.base import Method, ticket_of
from localarc_service.streams.state import StreamState


class MondrianMethod(Method[Mondrian]):
    """One threshold per group."""

    def threshold(self, x: FloatArray, group: Group) -> float:
        """The threshold of the group."""
        return float(self.calibrator.threshold(x, groups=_only(group)))

    def ask(self, x: FloatArray, group: Group) -> int:
        """The ticket of a prediction in the group."""
        return self.calibrator.ask(x, groups=_only(group)).id

    def is_informed(self, group: Group) -> bool:
        """Whether the threshold of the group follows from any loss."""
        part = self._parts.get(group)
        return part is not None and part.rounds_since_restart > 0

    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn from a loss in the group of its ticket; the score is not used."""
        self.calibrator.tell(ticket_of(pending), loss)

    def forget(self, pending: Pending) -> None:
        """The loss of a prediction will never be known."""
        self.calibrator.forget(ticket_of(pending))

    def tickets(self) -> Mapping[int, float]:
        """The threshold of each pending ticket."""
        return {ticket.id: ticket.threshold for ticket in self.calibrator.pending}

    @property
    def _parts(self) -> dict[Any, ARC]:
        return self.calibrator.calibrators  # type: ignore[return-value]

    @property
    def rounds(self) -> int:
        """The number of losses, in all groups."""
        return sum(part.rounds_since_restart for part in self._parts.values())

    @property
    def loss_sum(self) -> float:
        """Their sum."""
        return math.fsum(part.loss_sum for part in self._parts.values())

    @property
    def consistent(self) -> bool:
        """Whether every group's threshold follows from its losses."""
        return all(part.identity_holds for part in self._parts.values())

    @property
    def pending(self) -> int:
        """The number of pending tickets."""
        return self.calibrator.pending_count

    def certificate(self, late: Lateness) -> Certificate:
        """The certificate over all groups; tickets know what was pending in each."""
        return self.calibrator.certificate()

    def max_pending(self, group: str) -> int | None:
        """Largest number of others of a group that were pending when a prediction was made."""
        part = self._parts.get(group)
        return None if part is None else part.most_pending

    def problems(self, state: StreamState) -> list[str]:
        """Broken assumptions, by group."""
        return [
            f"Group {group}: {text}"
            for group, part in self._parts.items()
            for text in part.broken_assumptions
        ]


def _only(group: Group) -> str:
    if not isinstance(group, str):
        raise ValueError(
            f"method mondrian has one threshold per group: send one group, got {group!r}."
        )
    return group
