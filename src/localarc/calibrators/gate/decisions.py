"""Decisions: what a gate returns for a round, and what it remembers of it until the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from localarc import validation
from localarc.calibrators.auto.groups import label_from_json, label_to_json
from localarc.calibrators.gate.base import Topics
from localarc.calibrators.tickets import TicketError
from localarc.validation import FloatArray


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the model may answer by itself; `Gate.decide` returns it.

    Parameters
    ----------
    id : int or str
        The number of the decision, counted from 1, or the key that was passed to `decide`.
    answer : bool
        What to do: send the answer, or withhold it and escalate. In shadow mode always True.
    threshold : float
        The confidence that an answer had to exceed.
    would_answer : bool
        What the gate decided, in shadow mode too.

    Examples
    --------
    >>> Decision(id=1, answer=True, threshold=0.9, would_answer=False).answer
    True
    """

    id: int | str
    answer: bool
    threshold: float
    would_answer: bool


@dataclass(frozen=True, slots=True)
class Round:
    """A decided round whose outcome may still come."""

    topics: Topics
    confidence: float
    threshold: float
    sent: bool  # the answer went out
    answered: bool  # the gate would have let it go out
    key: str | None = None  # the caller's id

    def decision(self, number: int) -> Decision:
        """What the caller saw of it."""
        name = number if self.key is None else self.key
        return Decision(name, self.sent, self.threshold, self.answered)


Rounds: TypeAlias = dict[int, Round]


def decision_id(decision: Decision | int | str) -> int | str:
    """The number or key of a decision, given it or one of these."""
    found = decision.id if isinstance(decision, Decision) else decision
    if isinstance(found, str):
        return found
    return validation.integer("id", found, 1, "It is what `decide` returned, or its id.")


def checked_key(key: str | None) -> str | None:
    """An id of the caller's own."""
    if key is not None and not (isinstance(key, str) and key):
        raise ValueError(f"key must be text that is not empty, got {key!r:.60}.")
    return key


def not_open(number: int | str) -> TicketError:
    """The error for a decision that waits for no outcome."""
    return TicketError(
        f"decision {number!r} waits for no outcome: it was reported before, never made, or "
        "withheld so long ago that it was forgotten (see `auditable`). Report each outcome once."
    )


def not_sent(number: int | str) -> TicketError:
    """The error for feedback about an answer that was withheld."""
    return TicketError(
        f"the answer of decision {number!r} was withheld, so nobody saw it. Use "
        "audit(id, wrong=...) if somebody checked what it would have been."
    )


def not_withheld(number: int | str) -> TicketError:
    """The error for an audit of an answer that went out."""
    return TicketError(
        f"the answer of decision {number!r} went out. Use tell(id, wrong=...), from which the "
        "promise is kept."
    )


def to_json(rounds: Mapping[int, Round]) -> list[Any]:
    """The keys and topics of rounds, for storage."""
    return [[r.key, [[label_to_json(k), w] for k, w in r.topics.items()]] for r in rounds.values()]


def rows(rounds: Mapping[int, Round]) -> FloatArray:
    """Everything else, one row per round, for storage."""
    found = [(n, r.confidence, r.threshold, r.sent, r.answered) for n, r in rounds.items()]
    return np.array(found, np.float64).reshape(-1, 5)


def restored(names: list[Any], stored: FloatArray) -> Rounds:
    """What `to_json` and `rows` returned; raises ValueError if they do not belong together."""
    if stored.shape != (len(names), 5) or not np.isfinite(stored).all():
        raise ValueError("its open decisions do not have one row each")
    pairs = zip(names, stored.tolist(), strict=True)
    return {int(row[0]): _round(each, row) for each, row in pairs}


def _round(names: Any, row: list[float]) -> Round:
    key, topics = names
    _, confidence, threshold, sent, answered = row
    weights = {label_from_json(name): float(weight) for name, weight in topics}
    return Round(weights, confidence, threshold, bool(sent), bool(answered), checked_key(key))
