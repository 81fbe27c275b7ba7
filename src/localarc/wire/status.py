"""How streams and the service stand: what is answered to who only looks."""

from __future__ import annotations

from localarc.wire.config import StreamConfig
from localarc.wire.fields import Message


class StreamLine(Message):
    """One stream among others."""

    stream: str
    seq: int
    rounds: int
    risk: float | None
    target: float
    pending: int
    expired: int
    late: int
    memory_bytes: int
    healthy: bool


class StreamList(Message):
    """All streams, by name."""

    streams: list[StreamLine]


class BoundMessage(Message):
    """`|risk - target| <= value`, while what it assumes is true; no promise if `holds` is false."""

    name: str
    value: float | None
    holds: bool
    assumes: list[str]
    unmet: list[str]


class CertificateMessage(Message):
    """Whether what was learnt adds up, and what can be promised.

    `identity_holds` compares the trace of thresholds with the losses that the service counted
    itself. `replay_differs` counts predictions whose threshold came out otherwise, in any bit, when
    the log was replayed at a start. `outstanding` is the largest number of other losses that were
    awaited when a prediction was made.
    """

    identity_holds: bool
    identity_gap: float
    replay_differs: int
    outstanding: int
    bound: BoundMessage
    bounds: list[BoundMessage]


class GroupRisk(Message):
    """The mean loss of one group."""

    group: str
    rounds: int
    risk: float


class FeatureRange(Message):
    """What was seen of one feature."""

    low: float
    high: float
    mean: float


class Summary(Message):
    """How a stream stands. A loss is late that came after the loss of a newer prediction."""

    stream: str
    config: StreamConfig
    created: float
    seq: int
    predictions: int
    rounds: int
    risk: float | None
    target: float
    healthy: bool
    certificate: CertificateMessage
    groups: list[GroupRisk]
    pending: int
    oldest_pending: float | None
    """When the oldest prediction that still awaits its loss was made."""
    expired: int
    late: int
    memory: str
    memory_bytes: int
    features: list[FeatureRange]


class History(Message):
    """The run, a point every `stride` rounds; all lists have one entry a point.

    `bound` is the best bound on `|risk - target|` that held in advance, `observed` the one that the
    run itself shows; null where there is none. `size` is that of the set, if scores were sent.
    """

    stream: str
    seq: int
    target: float
    stride: int
    rounds: list[int]
    at: list[float]
    risk: list[float]
    threshold: list[float]
    size: list[float | None]
    bound: list[float | None]
    observed: list[float | None]
    pending: list[int]
    late: list[int]
    expired: list[int]


class ThresholdMap(Message):
    """The present threshold function over two features, the others at their means.

    `thresholds` has a row for each of `second_values`, or one row if only one feature was asked.
    """

    stream: str
    seq: int
    rounds: int
    first: int
    second: int | None
    first_values: list[float]
    second_values: list[float]
    others: list[float]
    thresholds: list[list[float]]


class StateImported(Message):
    """Where the import stands in the stream's log, and how many losses the state has learnt."""

    seq: int
    rounds: int


class Alive(Message):
    """The process answers."""

    alive: bool


class Ready(Message):
    """Whether requests are taken, and if not, why."""

    ready: bool
    detail: str
    streams: int
    unhealthy: int
