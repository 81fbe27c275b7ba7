"""Results: what the service answers, as values with names.

Fields that a newer service may add are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from localarc.client.errors import ServiceError

T = TypeVar("T")


@dataclass(frozen=True)
class Stream:
    """A stream, and its config with every default filled in."""

    stream: str
    config: Mapping[str, Any]


@dataclass(frozen=True)
class LabelSet:
    """The labels in a prediction set, by name or by position."""

    labels: tuple[str, ...] | tuple[int, ...]
    size: int

    def __contains__(self, label: object) -> bool:
        return label in self.labels


@dataclass(frozen=True)
class Interval:
    """A prediction interval; empty if its ends are the wrong way round."""

    lower: float
    upper: float
    size: float

    def __contains__(self, y: float) -> bool:
        return self.lower <= y <= self.upper


@dataclass(frozen=True)
class Prediction:
    """A threshold, and the set if scores were sent; report the loss under `id`."""

    id: str
    seq: int
    threshold: float
    set: LabelSet | Interval | None = None


@dataclass(frozen=True)
class Feedback:
    """Where a loss stands in the stream's log, and how many losses were learnt with it."""

    seq: int
    rounds: int


@dataclass(frozen=True)
class Imported:
    """Where an import stands in the stream's log, and how many losses its state has learnt."""

    seq: int
    rounds: int


@dataclass(frozen=True)
class Outcome:
    """What one operation of a batch came to: a prediction, a feedback or an error."""

    status: int
    prediction: Prediction | None = None
    feedback: Feedback | None = None
    error: ServiceError | None = None


@dataclass(frozen=True)
class Line:
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


@dataclass(frozen=True)
class Bound:
    """`|risk - target| <= value` while what it assumes is true; no promise unless it `holds`."""

    name: str
    value: float | None
    holds: bool
    assumes: tuple[str, ...]
    unmet: tuple[str, ...]


@dataclass(frozen=True)
class Certificate:
    """Whether what was learnt adds up, and what can be promised."""

    identity_holds: bool
    identity_gap: float
    replay_differs: int
    outstanding: int
    bound: Bound
    bounds: tuple[Bound, ...]


@dataclass(frozen=True)
class GroupRisk:
    """The mean loss of one group."""

    group: str
    rounds: int
    risk: float


@dataclass(frozen=True)
class FeatureRange:
    """What was seen of one feature."""

    low: float
    high: float
    mean: float


@dataclass(frozen=True)
class Summary:
    """How a stream stands; times are seconds since 1970."""

    stream: str
    config: Mapping[str, Any]
    created: float
    seq: int
    predictions: int
    rounds: int
    risk: float | None
    target: float
    healthy: bool
    certificate: Certificate
    groups: tuple[GroupRisk, ...]
    pending: int
    oldest_pending: float | None
    expired: int
    late: int
    memory: str
    memory_bytes: int
    features: tuple[FeatureRange, ...]


@dataclass(frozen=True)
class History:
    """The run so far, a point every `stride` rounds; all lists have one entry a point.

    `bound` is the best bound on `|risk - target|` that held in advance, `observed` the one that the
    run itself shows; None where there is none. Times are seconds since 1970.
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


def known(kind: type[T], values: Mapping[str, Any], **parts: Any) -> T:
    """A result from the fields that it knows; `parts` are those that are results themselves."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**({name: values[name] for name in names & values.keys()} | parts))


def prediction(values: Mapping[str, Any]) -> Prediction:
    """A prediction, with its set if there is one."""
    return known(Prediction, values, set=_prediction_set(values.get("set")))


def _prediction_set(values: Mapping[str, Any] | None) -> LabelSet | Interval | None:
    if values is None:
        return None
    if values["kind"] == "labels":
        return known(LabelSet, values, labels=tuple(values["labels"]))
    return known(Interval, values)


def outcome(values: Mapping[str, Any]) -> Outcome:
    """The outcome of one operation of a batch."""
    told, learnt, problem = (values.get(name) for name in ("prediction", "feedback", "problem"))
    return Outcome(
        values["status"],
        prediction(told) if told else None,
        known(Feedback, learnt) if learnt else None,
        ServiceError(values["status"], problem["detail"]) if problem else None,
    )


def summary(values: Mapping[str, Any]) -> Summary:
    """A stream's summary with its parts."""
    return known(
        Summary,
        values,
        certificate=_certificate(values["certificate"]),
        groups=tuple(known(GroupRisk, each) for each in values["groups"]),
        features=tuple(known(FeatureRange, each) for each in values["features"]),
    )


def _certificate(values: Mapping[str, Any]) -> Certificate:
    bounds = tuple(_bound(each) for each in values["bounds"])
    return known(Certificate, values, bound=_bound(values["bound"]), bounds=bounds)


def _bound(values: Mapping[str, Any]) -> Bound:
    return known(Bound, values, assumes=tuple(values["assumes"]), unmet=tuple(values["unmet"]))
