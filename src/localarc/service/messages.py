"""Messages: all that goes over the wire, as types; what is not one of them is refused.

Requests forbid unknown fields. Numbers are finite by construction: the parser refuses NaN,
infinities and numbers in strings. Times are seconds since 1970, by the service's clock.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta, Raw

from localarc.checks import LARGEST

# Python's `$` also matches before a last line feed; the lookahead shuts that door.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)"
ID = r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$(?!\n)"
GROUP = r"^[^\x00-\x1f\x7f]{1,64}$(?!\n)"

MOST_FEATURES = 1024
MOST_SCORES = 10_000
MOST_OPERATIONS = 1_000

Number: TypeAlias = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Name: TypeAlias = Annotated[str, Meta(pattern=NAME, description="a stream")]
Id: TypeAlias = Annotated[str, Meta(pattern=ID, description="a prediction of a stream")]
Group: TypeAlias = Annotated[str, Meta(pattern=GROUP, description="a kind of input")]
Features: TypeAlias = Annotated[list[Number], Meta(max_length=MOST_FEATURES)]
Scores: TypeAlias = Annotated[list[Number], Meta(min_length=1, max_length=MOST_SCORES)]


class Message(msgspec.Struct, forbid_unknown_fields=True):
    """Something said over the wire."""


# ---- a stream's config -----------------------------------------------------------------------


class KernelConfig(Message):
    """How far one mistake is felt; `shape` is for rational-quadratic alone."""

    kind: Literal[
        "rbf", "laplace", "matern32", "matern52", "cauchy", "triangular", "rational-quadratic"
    ] = "rbf"
    length_scale: Number | Annotated[list[Number], Meta(min_length=1, max_length=MOST_FEATURES)] = (
        1.0
    )
    scale: Number = 1.0
    shape: Number | None = None


class RateConfig(Message):
    """The step of round t: `eta / sqrt(t)`, `eta * t^(-exponent)` or `eta`."""

    kind: Literal["inverse-sqrt", "power", "constant"] = "inverse-sqrt"
    eta: Number = 1.0
    exponent: Number | None = None


class Auto(Message, tag="auto", tag_field="kind"):
    """Constant memory: a lattice for rbf with one or two features, else a dictionary."""


class Lattice(Message, tag="lattice", tag_field="kind"):
    """Constant memory with a proven accuracy, for rbf with up to three features."""

    tolerance: Number = 1e-15
    max_bytes: Annotated[int, Meta(ge=2**16, le=2**28)] = 2**26


class Dictionary(Message, tag="dictionary", tag_field="kind"):
    """Bounded memory with a measured accuracy, for any kernel and number of features."""

    tolerance: Number = 1e-4
    max_size: Annotated[int, Meta(ge=1, le=8192)] = 1024


class KeepLast(Message, tag="keep-last", tag_field="kind"):
    """The latest m rounds, the paper's memory-limited variant."""

    m: Annotated[int, Meta(ge=1, le=100_000)] = 1000


class KeepAll(Message, tag="keep-all", tag_field="kind"):
    """Every round, exactly: memory, snapshots and time per round grow for ever."""


MemoryConfig: TypeAlias = Auto | Lattice | Dictionary | KeepLast | KeepAll


class LabelSets(Message, tag="labels", tag_field="kind"):
    """`scores` holds one number per label; the set is the labels whose score is low enough.

    "score" takes them as they are, lower being better; "probability" scores a label by minus its
    probability, "cumulative" by that of all labels at least as likely.
    """

    labels: Annotated[list[Group], Meta(min_length=1, max_length=MOST_SCORES)] | None = None
    score: Literal["score", "probability", "cumulative"] = "score"


class Intervals(Message, tag="interval", tag_field="kind"):
    """`scores` holds one prediction, or a lower and an upper quantile to be widened."""


class StreamConfig(Message):
    """What a stream is told once. Without a kernel it is ARC: one threshold for all inputs."""

    alpha: Number
    kernel: KernelConfig | None = None
    features: Annotated[int, Meta(ge=0, le=MOST_FEATURES)] = 0
    rate: Number | RateConfig = 1.0
    regularization: Number = 1e-4
    loss_bound: Number = 1.0
    score_range: tuple[Number, Number] | None = None
    initial_threshold: Number = 0.0
    memory: MemoryConfig = msgspec.field(default_factory=Auto)
    clip: Number | None = None
    set: LabelSets | Intervals | None = None
    timeout: Annotated[float, Meta(gt=0, le=LARGEST)] | None = None
    """Seconds after which a loss is no longer awaited; None waits for ever."""
    default_loss: Annotated[float, Meta(ge=0, le=LARGEST)] | None = None
    """What is learnt for a loss that never came; None learns nothing."""
    retain: Annotated[int, Meta(ge=0, le=100_000)] = 4096
    """How many answered predictions are remembered, so that repeated requests get their answer."""


class StreamCreated(Message):
    """The stream, and its config with every default filled in."""

    stream: str
    config: StreamConfig


# ---- rounds ----------------------------------------------------------------------------------


class PredictRequest(Message):
    """A threshold for x, please; with `scores`, the set too. Sent again with its id: no effect."""

    x: Features = []
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


# ---- what a stream looks like ----------------------------------------------------------------


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


# ---- server-sent events ----------------------------------------------------------------------


class Notice(Message):
    """Something happened; as an event its `id` is seq, its name the tag, its data this message."""

    seq: int
    at: float
    rounds: int
    risk: float | None
    pending: int
    late: int
    expired: int


class Created(Notice, tag="created", tag_field="kind"):
    """The stream was created."""


class Predicted(Notice, tag="predicted", tag_field="kind"):
    """A threshold was told."""

    id: str
    threshold: float
    size: float | None = None
    group: str | None = None


class Learned(Notice, tag="learned", tag_field="kind"):
    """A loss was learnt; `threshold` and `size` are those of its prediction."""

    id: str
    loss: float
    threshold: float
    size: float | None = None
    group: str | None = None


class Expired(Notice, tag="expired", tag_field="kind"):
    """A loss is no longer awaited; `loss` is what was learnt instead, if anything."""

    id: str
    loss: float | None = None
    group: str | None = None


class Imported(Notice, tag="imported", tag_field="kind"):
    """The calibrator was replaced."""


class Reset(Message, tag="reset", tag_field="kind"):
    """Events were missed and cannot be told again: read the history, go on from seq."""

    seq: int


StreamEvent: TypeAlias = Created | Predicted | Learned | Expired | Imported | Reset
