"""Predictions, feedback and batches of them; and problems, the body of every error response.

All numbers of requests are finite: the parser rejects NaN, infinities and numbers in strings.
Thresholds and ends of intervals may be infinite, in JSON the texts "inf" and "-inf".
"""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Raw

from localarc_client.wire.fields import (
    GROUP_PATTERN,
    MAX_OPERATIONS,
    Features,
    Group,
    Number,
    Outcome,
    PredictionId,
    Probability,
    Request,
    Response,
    Score,
    Scores,
    StreamName,
)
from localarc_client.wire.infinite import Extended, mark


class PredictRequest(Request, omit_defaults=True):
    """A request for a threshold. Repeating it with the same id has no further effect.

    Parameters
    ----------
    x : list of float, default []
        Features of the input, as many as the stream's config says.
    id : str, optional
        Id of the prediction, unique in the stream; without it the service generates one.
    group : str or list of str, optional
        Group of the input, or several that overlap; the summary reports the risk of each group.
        Method "mondrian" requires one, method "auto" keeps the risk of each near the target.
    scores : list of float, optional
        With scores, the response has a prediction set. What they are depends on the config's `set`.
    confidence : float, optional
        Only for method "gate", which requires it: how sure the model is of its answer, in [0, 1].

    Examples
    --------
    >>> PredictRequest([0.2, 0.7], group="weekend").x
    [0.2, 0.7]
    """

    x: Features = msgspec.field(default_factory=list)
    id: PredictionId | None = None
    group: Group | None = None
    scores: Scores | None = None
    confidence: Annotated[float, Meta(ge=0, le=1)] | None = None

    def __post_init__(self) -> None:
        """Reject control characters in a group's name."""
        if isinstance(self.group, str) and not re.search(GROUP_PATTERN, self.group):
            raise ValueError("group must have 1 to 64 characters, and no control characters")


class LabelSet(Response, tag="labels", tag_field="kind"):
    """A prediction set of labels.

    Attributes
    ----------
    labels : tuple of str or int
        The labels in the set: names, or positions if the stream's labels have no names.
    size : int
        Number of labels in the set.

    Examples
    --------
    >>> "cat" in LabelSet(("cat", "dog"), 2)
    True
    """

    labels: tuple[str | int, ...]
    size: int

    def __contains__(self, label: object) -> bool:
        return label in self.labels


class Interval(Response, tag="interval", tag_field="kind"):
    """A prediction interval; empty if `lower` is greater than `upper`.

    Attributes
    ----------
    lower, upper : float
        Both ends, which belong to the interval. May be infinite, in JSON "-inf" and "inf".
    size : float
        Width of the interval, 0 if it is empty.

    Examples
    --------
    >>> 1.5 in Interval(1.0, 2.0, 1.0)
    True
    """

    lower: Extended
    upper: Extended
    size: Extended

    def __post_init__(self) -> None:
        """JSON has no infinity."""
        mark(self, "lower", "upper", "size")

    def __contains__(self, y: float) -> bool:
        return self.lower <= y <= self.upper


class PredictResponse(Response):
    """A threshold and its prediction set. Report the loss under `id`.

    Attributes
    ----------
    id : str
        Id of the prediction.
    seq : int
        Position of the prediction in the stream.
    threshold : float
        The threshold, in units of the score. Infinite (in JSON the text "inf") while too little is
        known for one: the set is the full one.
    set : LabelSet, Interval or None
        The prediction set, if the request had scores.
    answer : bool or None
        For method "gate": whether the answer may go out. If it does, report whether it was wrong;
        if not, an audit may.

    Examples
    --------
    >>> PredictResponse("a", seq=1, threshold=0.5, set=Interval(1.0, 2.0, 1.0)).set.size
    1.0
    """

    id: str
    seq: int
    threshold: Extended
    set: LabelSet | Interval | None = None
    answer: bool | None = None

    def __post_init__(self) -> None:
        """JSON has no infinity."""
        mark(self, "threshold")


class FeedbackRequest(Request):
    """The loss of a prediction, or the outcome from which the service computes it.

    Parameters
    ----------
    loss : float, optional
        The loss, between 0 and the loss bound of the stream. For method "gate" it is 1 for a wrong
        answer, 0 for a right one.
    score : float, "inf" or "-inf", optional
        Beside a loss: the smallest threshold whose loss is at most `alpha`, for misses the score of
        the true outcome; "-inf" if every threshold would do. Method "auto" learns from it.
    outcome : float or str, optional
        The same as `y`, its name in older clients.
    y : float or str, optional
        Instead of a loss: the true value, or the true label (its position if labels have no names).
        For streams with a `set`, if the prediction had scores. A miss costs the loss bound.
    probability : float, optional
        For method "gate", if only some answers are looked at, drawn at random: the probability with
        which this one was to be. Without a loss it says that the answer was not drawn.

    Examples
    --------
    >>> FeedbackRequest(1.0, score=0.7).loss
    1.0
    >>> FeedbackRequest(y=42.1).true_value
    42.1
    """

    loss: Number | None = None
    score: Score | None = None
    outcome: Outcome | None = None
    y: Outcome | None = None
    probability: Probability | None = None

    def __post_init__(self) -> None:
        """Reject a body that says nothing, or two things."""
        check_report(self)

    @property
    def true_value(self) -> Outcome | None:
        """What came true, under either name."""
        return self.outcome if self.y is None else self.y


def check_report(report: FeedbackRequest | FeedbackOperation) -> None:
    """Raise ValueError unless there is a loss, maybe with a score, or y."""
    if report.y is not None and report.outcome is not None:
        raise ValueError("y and outcome are names of the same: send y")
    known = report.y is not None or report.outcome is not None
    if known and report.probability is not None:
        raise ValueError("probability belongs to a loss of a gate: omit it")
    if is_passed_over(report):
        return
    if known == (report.loss is not None):
        got = "both" if known else "neither"
        raise ValueError(f"report either the loss of a prediction or y, what came true, got {got}")
    if known and report.score is not None:
        raise ValueError("score belongs to a loss: omit it, y determines it")


def is_passed_over(report: FeedbackRequest | FeedbackOperation) -> bool:
    """Whether an answer was not looked at, and could have been."""
    return report.probability is not None and report.loss is None and report.score is None


class AuditRequest(Request):
    """The audit of an answer that a gate had withheld.

    Parameters
    ----------
    wrong : bool
        Whether the answer would have been wrong.

    Examples
    --------
    >>> AuditRequest(wrong=True).wrong
    True
    """

    wrong: bool


class FeedbackResponse(Response):
    """Confirmation that a loss was learned from and stored.

    Attributes
    ----------
    seq : int
        Position of the feedback in the stream.
    rounds : int
        Number of losses learned from, including this one.

    Examples
    --------
    >>> FeedbackResponse(seq=2, rounds=1).rounds
    1
    """

    seq: int
    rounds: int


class PredictOperation(PredictRequest, kw_only=True, tag="predict", tag_field="op"):
    """A `PredictRequest` in a batch.

    Parameters
    ----------
    stream : str
        Name of the stream.
    x, id, group, scores, confidence
        As in `PredictRequest`.

    Examples
    --------
    >>> PredictOperation(stream="demand", x=[0.2, 0.7], id="a").stream
    'demand'
    """

    stream: StreamName


class FeedbackOperation(Request, tag="feedback", tag_field="op"):
    """A `FeedbackRequest` in a batch.

    Parameters
    ----------
    stream : str
        Name of the stream.
    id : str
        Id of the prediction.
    loss, score, outcome, y, probability
        As in `FeedbackRequest`.

    Examples
    --------
    >>> FeedbackOperation(stream="demand", id="a", loss=1.0).loss
    1.0
    """

    stream: StreamName
    id: PredictionId
    loss: Number | None = None
    score: Score | None = None
    outcome: Outcome | None = None
    y: Outcome | None = None
    probability: Probability | None = None

    def __post_init__(self) -> None:
        """Reject an operation that says nothing, or two things."""
        check_report(self)


Operation: TypeAlias = PredictOperation | FeedbackOperation


class BatchRequest(Request):
    """Operations that are processed in order and committed together; each can fail on its own.

    Parameters
    ----------
    operations : list of PredictOperation or FeedbackOperation
        At most 1,000 operations.

    Examples
    --------
    >>> operation = FeedbackOperation(stream="demand", id="a", loss=1.0)
    >>> len(BatchRequest([operation]).operations)
    1
    """

    operations: Annotated[list[Operation], Meta(min_length=1, max_length=MAX_OPERATIONS)]


class BatchEnvelope(Request):
    """A batch whose operations are not parsed yet, so that an invalid one fails alone."""

    operations: Annotated[list[Raw], Meta(min_length=1, max_length=MAX_OPERATIONS)]


class Problem(Response):
    """An error, as RFC 9457 defines it.

    Attributes
    ----------
    title : str
        The phrase of the HTTP status, such as "Not Found".
    status : int
        The HTTP status.
    detail : str
        The reason, in a sentence or two.
    type : str
        Always "about:blank": the status says what kind of error it is.
    request_id : str, optional
        Id of the request, by which logs name it; None in the results of a batch, which have one id.

    Examples
    --------
    >>> Problem("Not Found", 404, "there is no stream 'demand'.").status
    404
    """

    title: str
    status: int
    detail: str
    type: str = "about:blank"
    request_id: str | None = None


class BatchResult(Response):
    """Result of one operation of a batch.

    Attributes
    ----------
    status : int
        The HTTP status that the operation would have on its own.
    prediction : PredictResponse or None
        Result of a prediction.
    feedback : FeedbackResponse or None
        Result of a feedback.
    problem : Problem or None
        Why the operation failed, if it did.

    Examples
    --------
    >>> BatchResult(200, feedback=FeedbackResponse(seq=2, rounds=1)).problem is None
    True
    """

    status: int
    prediction: PredictResponse | None = None
    feedback: FeedbackResponse | None = None
    problem: Problem | None = None


class BatchResponse(Response):
    """The results of a batch.

    Attributes
    ----------
    results : list of BatchResult
        One result per operation, in the same order.

    Examples
    --------
    >>> BatchResponse([BatchResult(200)]).results[0].status
    200
    """

    results: list[BatchResult]
