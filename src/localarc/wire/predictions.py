"""Messages: what clients and service say to each other about rounds; all else is refused.

Requests forbid unknown fields. Numbers are finite by construction: the parser refuses NaN,
infinities and numbers in strings. Times are seconds since 1970, by the service's clock.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Raw

from localarc.wire.fields import (
    MOST_OPERATIONS,
    Features,
    Group,
    Id,
    Message,
    Name,
    Number,
    Scores,
)


class PredictRequest(Message):
    """A threshold for x, please; with `scores`, the set too. Sent again with its id: no effect."""

    x: Features = msgspec.field(default_factory=list)
    id: Id | None = None
    group: Group | None = None
    scores: Scores | None = None


class LabelSet(Message, tag="labels", tag_field="kind"):
    """Labels by name, or by position if the stream has no names."""

    labels: list[str | int]
    size: int


class Interval(Message, tag="interval", tag_field="kind"):
    """From `lower` to `upper`; empty if they are the wrong way round."""

    lower: float
    upper: float
    size: float


class PredictResponse(Message):
    """The answer, to be confirmed with a loss under its id."""

    id: str
    seq: int
    threshold: float
    set: LabelSet | Interval | None = None


class FeedbackRequest(Message):
    """The loss of one prediction."""

    loss: Number


class FeedbackResponse(Message):
    """Where the loss stands in the stream's log, and how many losses had been learnt with it."""

    seq: int
    rounds: int


class PredictOperation(PredictRequest, kw_only=True, tag="predict", tag_field="op"):
    """`predict`, in a batch."""

    stream: Name


class FeedbackOperation(Message, tag="feedback", tag_field="op"):
    """`feedback`, in a batch."""

    stream: Name
    id: Id
    loss: Number


Operation: TypeAlias = PredictOperation | FeedbackOperation


class BatchRequest(Message):
    """Operations in order, committed together; each one succeeds or fails on its own."""

    operations: Annotated[list[Operation], Meta(min_length=1, max_length=MOST_OPERATIONS)]


class BatchEnvelope(Message):
    """A batch whose operations are still to be read, so that a bad one fails alone."""

    operations: Annotated[list[Raw], Meta(min_length=1, max_length=MOST_OPERATIONS)]


class Problem(Message):
    """What went wrong (RFC 9457), the reason in one sentence."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"


class OperationResult(Message):
    """What one operation of a batch would have been answered on its own."""

    status: int
    prediction: PredictResponse | None = None
    feedback: FeedbackResponse | None = None
    problem: Problem | None = None


class BatchResponse(Message):
    """A result for each operation, in order."""

    results: list[OperationResult]
