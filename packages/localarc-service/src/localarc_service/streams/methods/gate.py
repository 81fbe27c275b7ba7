"""Gate: a prediction is a decision, its loss says whether the answer was wrong; and audits."""

from __future__ import annotations

import contextlib
from typing import Any

from localarc import Gate
from localarc.calibrators.tickets import TicketError
from localarc.guarantees import Bound
from localarc_client.wire.config import GateConfig
from localarc_service.stored.events import PredictionMade
from localarc_service.stored.format import Group, Pending, Score
from localarc_service.streams.methods.base import Asked, Method, features_of, ticket_of

CREDIT, IDLE, AUDITABLE = 0.001, 0.003, 1000
"""What a gate is made with and no config has; these numbers belong to the stored format."""


def build(config: GateConfig) -> Gate:
    """The calibrator of a config."""
    return Gate(
        config.alpha,
        credit=CREDIT,
        idle=IDLE,
        auditable=AUDITABLE,
        max_bytes=config.memory.max_bytes,
    )


class GateMethod(Method[Gate]):
    """Which answers may go out. Rounds are answers with a known outcome, the risk is wrong ones."""

    def is_informed(self, group: Group) -> bool:
        """A gate has a start of its own."""
        return True

    def ask(self, event: PredictionMade) -> Asked:
        """Decide; an answer that is withheld has no ticket, and an audit finds it by its id."""
        if event.scores is None:
            raise ValueError("method gate requires the confidence of the answer.")
        self.forget_withheld(event.id)  # the stream may have forgotten it before the gate
        decision = self.calibrator.decide(
            features_of(event),
            confidence=event.scores[0],
            groups=self.groups(event.group),
            key=event.id,
        )
        return Asked(decision.threshold, self.calibrator.decisions if decision.answer else None)

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
        self.calibrator.tell(ticket_of(pending), loss == 1.0, probability)

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

    @property
    def rounds(self) -> int:
        """The number of answers with a known outcome."""
        return int(self.calibrator.counts.answered)

    def bound(self, certificate: Any) -> Bound:
        """How far the share of wrong answers can be above the target."""
        found: Bound = certificate.above
        return found
