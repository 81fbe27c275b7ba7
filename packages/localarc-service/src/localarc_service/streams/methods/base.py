"""Method: a calibrator as the service uses it, with losses that arrive whenever they do."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from localarc.adaptive.settings import Settings
from localarc.guarantees import Bound
from localarc.guarantees.assumptions import Lateness
from localarc.validation import FloatArray
from localarc_service.storage.events import PredictionMade
from localarc_service.storage.format import Config, Group, Pending, Score
from localarc_service.streams.state import StreamState

Kind = TypeVar("Kind")


class Method(ABC, Generic[Kind]):
    """A calibrator of one kind, and what the service asks of it."""

    def __init__(self, calibrator: Kind, config: Config) -> None:
        self.calibrator = calibrator
        self.config = config

    # ---- predictions and losses --------------------------------------------------------------

    @abstractmethod
    def threshold(self, x: FloatArray, group: Group) -> float:
        """The threshold for an input; changes nothing."""

    def ask(self, x: FloatArray, group: Group) -> int | None:
        """The ticket of a prediction that is made now, where there are tickets."""
        return None

    def is_informed(self, group: Group) -> bool:
        """Whether a threshold that goes out now follows from any loss."""
        return self.rounds > 0

    @property
    def uninformed(self) -> tuple[int, float]:
        """How many losses are no part of the promise, and their sum, where a calibrator knows."""
        return 0, 0.0

    def make(self, event: PredictionMade) -> int | None:
        """The ticket of a prediction that was requested."""
        return self.ask(np.array(event.x, dtype=np.float64), event.group)

    def is_withheld(self, confidence: float | None, threshold: float) -> bool:
        """Whether a gate keeps an answer back; other methods have no answers."""
        return False

    def audit(self, key: str, loss: float) -> None:
        """Learn what became of an answer that was withheld."""
        raise ValueError("only method gate has audits: report feedback.")

    def forget_withheld(self, key: str) -> None:
        """An answer that was withheld can no longer be audited; other methods have none."""

    @abstractmethod
    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn from a loss; raises before any change."""

    def pass_over(self, pending: Pending, score: Score) -> None:
        """An answer that could have been looked at was not; other methods have no answers."""
        raise ValueError("only the answers of a gate are passed over: report a loss.")

    def forget(self, pending: Pending) -> None:
        """The loss of a prediction will never be known."""

    def tickets(self) -> Mapping[int, float] | None:
        """The threshold of each pending ticket, by its number; None without tickets."""
        return None

    # ---- consistency -------------------------------------------------------------------------

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The number of losses that the calibrator learned from."""

    @property
    @abstractmethod
    def loss_sum(self) -> float:
        """The sum of these losses, as the calibrator knows it."""

    @property
    @abstractmethod
    def consistent(self) -> bool:
        """Whether its thresholds follow from these losses."""

    @property
    def pending(self) -> int | None:
        """How many losses the calibrator waits for; None if it does not know."""
        return None

    # ---- status ------------------------------------------------------------------------------

    @abstractmethod
    def certificate(self, late: Lateness) -> Any:
        """The certificate, given how late losses were; methods with tickets know it themselves."""

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

    @abstractmethod
    def problems(self, state: StreamState) -> list[str]:
        """What goes wrong without an error, each with the number to change."""

    @property
    def memory(self) -> str:
        """What is remembered of places, as Python writes it."""
        return "none"

    @property
    def memory_bytes(self) -> int:
        """The size of what is remembered of places."""
        return 0


def ticket_of(pending: Pending) -> int:
    """The ticket of a prediction of a method that issues tickets."""
    if pending.ticket is None:
        raise ValueError("the prediction has no ticket: the stream is damaged.")
    return pending.ticket
