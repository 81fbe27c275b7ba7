"""Method: a calibrator as the service uses it, with losses that arrive whenever they do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from localarc.adaptive.settings import Settings
from localarc.guarantees import Bound
from localarc.guarantees.assumptions import Lateness
from localarc.validation import FloatArray
from localarc_client.wire.config import StreamConfig
from localarc_service.stored.events import PredictionMade
from localarc_service.stored.format import Group, Pending, Score
from localarc_service.streams.state import StreamState

Kind = TypeVar("Kind", bound=Any)  # an `OnlineMethod`


class Asked(NamedTuple):
    """What a calibrator returns for a prediction; without a ticket it keeps no record of it."""

    threshold: float
    ticket: int | None = None


class Method(Generic[Kind]):
    """A calibrator, and what a method does otherwise than by its role, `OnlineCalibrator`."""

    def __init__(self, calibrator: Kind, config: StreamConfig) -> None:
        self.calibrator = calibrator
        self.config = config

    # ---- predictions and losses --------------------------------------------------------------

    def groups(self, group: Group) -> Any:
        """The groups of a prediction, as the calibrator accepts them."""
        return () if group is None else group

    def threshold(self, x: FloatArray, group: Group) -> float:
        """The threshold for an input; changes nothing."""
        return float(self.calibrator.threshold(x, groups=self.groups(group)))

    def ask(self, event: PredictionMade) -> Asked:
        """Make a prediction, with one evaluation of the threshold."""
        ticket = self.calibrator.ask(features_of(event), groups=self.groups(event.group))
        return Asked(ticket.threshold, ticket.id)

    def is_informed(self, group: Group) -> bool:
        """Whether a threshold that goes out now follows from any loss."""
        return self.rounds > 0

    @property
    def uninformed(self) -> tuple[int, float]:
        """How many losses are no part of the promise, and their sum, where a calibrator knows."""
        return 0, 0.0

    def is_withheld(self, confidence: float | None, threshold: float) -> bool:
        """Whether a gate keeps an answer back; other methods have no answers."""
        return False

    def audit(self, key: str, loss: float) -> None:
        """Learn what became of an answer that was withheld."""
        raise ValueError("only method gate has audits: report feedback.")

    def forget_withheld(self, key: str) -> None:
        """An answer that was withheld can no longer be audited; other methods have none."""

    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn from a loss; raises before any change."""
        known = None if score is None else float(score)
        self.calibrator.tell(ticket_of(pending), loss, known)

    def pass_over(self, pending: Pending, score: Score) -> None:
        """An answer that could have been looked at was not; other methods have no answers."""
        raise ValueError("only the answers of a gate are passed over: report a loss.")

    def forget(self, pending: Pending) -> None:
        """The loss of a prediction will never be known."""
        self.calibrator.forget(ticket_of(pending))

    def tickets(self) -> Mapping[int, float] | None:
        """The threshold of each pending ticket, by its number; None without tickets."""
        return {ticket.id: ticket.threshold for ticket in self.calibrator.pending}

    # ---- consistency -------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """The number of losses that the calibrator learned from."""
        rounds: int = self.calibrator.rounds
        return rounds

    @property
    def loss_sum(self) -> float:
        """The sum of these losses, as the calibrator knows it."""
        return float(self.calibrator.loss_sum)

    @property
    def pending(self) -> int | None:
        """How many losses the calibrator waits for; None if it does not know."""
        waiting: int = self.calibrator.pending_count
        return waiting

    # ---- status ------------------------------------------------------------------------------

    def certificate(self, late: Lateness) -> Any:
        """The certificate, given how late losses were; methods with tickets know it themselves."""
        return self.calibrator.certificate()

    def max_pending(self, group: str) -> int | None:
        """Largest number of others of a group that were pending, where that is counted."""
        return None

    def bound(self, certificate: Any) -> Bound:
        """The bound of a certificate that is shown first."""
        found: Bound = certificate.bound
        return found

    @property
    def settings(self) -> Settings | None:
        """The settings from which bounds follow before any round, if they do."""
        return None

    @property
    def broken_since(self) -> float:
        """The first round that broke an assumption of these bounds."""
        return math.inf

    def problems(self, state: StreamState) -> list[str]:
        """What goes wrong without an error, each with the number to change."""
        return [
            text.replace("Try max_bytes", "Try memory nodes with max_bytes")
            for text in self.found()
        ]

    def found(self) -> list[str]:
        """What the calibrator reveals, which knows no configs."""
        found: list[str] = self.calibrator.problems()
        return found

    @property
    def memory(self) -> str:
        """What is remembered of places, as Python writes it: a table of nodes."""
        return f"Nodes(max_bytes={self.calibrator.settings.max_bytes})"

    @property
    def memory_bytes(self) -> int:
        """Its size; before the first round, how large it will be at most."""
        size: int = self.calibrator.nbytes or self.calibrator.settings.max_bytes
        return size


def features_of(event: PredictionMade) -> FloatArray:
    """The input of a prediction, as calibrators want it."""
    return np.array(event.x, dtype=np.float64)


def ticket_of(pending: Pending) -> int:
    """The ticket of a prediction of a method that issues tickets."""
    if pending.ticket is None:
        raise ValueError("the prediction has no ticket: the stream is damaged.")
    return pending.ticket
