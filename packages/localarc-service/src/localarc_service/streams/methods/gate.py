"""Gate: a prediction is a decision, its loss says whether the answer was wrong; and audits."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from localarc import Gate
from localarc.calibrators.gate import GateCertificate
from localarc.calibrators.tickets import TicketError
from localarc.guarantees import Bound
from localarc.guarantees.assumptions import Lateness
from localarc.validation import FloatArray
from localarc_service.storage.events import PredictionMade
from localarc_service.storage.format import Group, Pending, Score
from localarc_service.streams.methods.base import Method, ticket_of
from localarc_service.streams.state import StreamState


class GateMethod(Method[Gate]):
    """Which answers may go out. Rounds are answers with a known outcome, the risk is wrong ones."""

    def threshold(self, x: FloatArray, group: Group) -> float:
        """The confidence that an answer must exceed."""
        return self.calibrator.threshold(x, groups=_topics(group))

    def ask(self, x: FloatArray, group: Group) -> int:
        """The ticket of an answer that goes out."""
        self.calibrator.decide(x, confidence=1.0, groups=_topics(group))
        return self.calibrator.decisions

    def is_informed(self, group: Group) -> bool:
        """A gate has a start of its own."""
        return True

    def make(self, event: PredictionMade) -> int | None:
        """Decide; an answer that is withheld has no ticket, and an audit finds it by its id."""
        if event.scores is None:
            raise ValueError("method gate requires the confidence of the answer.")
        self.forget_withheld(event.id)  # the stream may have forgotten it before the gate
        decision = self.calibrator.decide(
            np.array(event.x, dtype=np.float64),
            confidence=event.scores[0],
            groups=_topics(event.group),
            key=event.id,
        )
        return self.calibrator.decisions if decision.answer else None

    def is_withheld(self, confidence: float | None, threshold: float) -> bool:
        """Whether the confidence is too small."""
        return confidence is not None and confidence <= threshold

    def learn(self, pending: Pending, loss: float, score: Score) -> None:
        """Learn whether an answer was wrong; the score is the probability of a look at it."""
        if loss not in (0.0, 1.0):
            raise ValueError(
                f"method gate learns whether an answer was wrong: report a loss of 1 or 0, got "
                f"{loss}."
            )
        probability = 1.0 if score is None else float(score)
        self.calibrator.feedback(ticket_of(pending), loss == 1.0, probability)

    def pass_over(self, pending: Pending, score: Score) -> None:
        """An answer that could have been looked at was not."""
        probability = None if score is None else float(score)
        self.calibrator.forget(ticket_of(pending), probability)

    def audit(self, key: str, loss: float) -> None:
        """Learn whether an answer that was withheld would have been wrong."""
        try:
            self.calibrator.audit(key, wrong=loss == 1.0)
        except TicketError as error:
            raise ValueError(str(error)) from error

    def forget_withheld(self, key: str) -> None:
        """Forget a withheld answer, if it is not forgotten already."""
        with contextlib.suppress(TicketError):
            self.calibrator.forget(key)

    def forget(self, pending: Pending) -> None:
        """The outcome of an answer will never be known."""
        self.calibrator.forget(ticket_of(pending))

    def tickets(self) -> Mapping[int, float]:
        """The threshold of each answer that waits for its outcome."""
        return self.calibrator.waiting

    @property
    def rounds(self) -> int:
        """The number of answers with a known outcome."""
        return int(self.calibrator.counts.answered)

    @property
    def loss_sum(self) -> float:
        """The number of wrong ones."""
        return self.calibrator.counts.wrong

    @property
    def consistent(self) -> bool:
        """Whether the bettors saw what was counted."""
        return self.calibrator.consistent

    @property
    def pending(self) -> int:
        """The number of answers that wait for their outcome."""
        return len(self.calibrator.pending)

    def certificate(self, late: Lateness) -> GateCertificate:
        """The promise about wrong answers."""
        return self.calibrator.certificate()

    def bound(self, certificate: Any) -> Bound:
        """How far the share of wrong answers can be above the target."""
        found: Bound = certificate.above
        return found

    def problems(self, state: StreamState) -> list[str]:
        """Whether the table of nodes is too small."""
        refused = self.calibrator.certificate().refused["groups"]
        if not refused:
            return []
        return [
            f"{refused} times a topic had no place in the full table of nodes, and no guarantee. "
            f"Try memory nodes with max_bytes={2 * self._max_bytes}."
        ]

    @property
    def _max_bytes(self) -> int:
        return self.calibrator.settings.max_bytes

    @property
    def memory(self) -> str:
        """The table of nodes."""
        return f"Nodes(max_bytes={self._max_bytes})"

    @property
    def memory_bytes(self) -> int:
        """Its size; before the first round, how large it will be at most."""
        return self.calibrator.nbytes or self._max_bytes


def _topics(group: Group) -> Any:
    return () if group is None else group
