"""Server-sent events: one per change of a stream."""

from __future__ import annotations

from typing import TypeAlias

from localarc_client.wire.fields import Response
from localarc_client.wire.health import Status
from localarc_client.wire.infinite import Extended, mark


class StreamEvent(Response, tag_field="kind"):
    """Base of all events. As a server-sent event its id is `seq` and its name the kind.

    Attributes
    ----------
    seq : int
        Position of the event in the stream, from 0.

    Examples
    --------
    >>> isinstance(ResetEvent(3), StreamEvent)
    True
    """

    seq: int

    @property
    def kind(self) -> str:
        """Name of the event, such as "predicted"."""
        return str(self.__struct_config__.tag)


class ChangeEvent(StreamEvent):
    """One change of a stream, with the counts after it.

    Attributes
    ----------
    at : float
        Time of the change, in seconds since 1970.
    rounds : int
        Number of losses learned from so far.
    risk : float or None
        Mean of these losses; None before the first one.
    pending : int
        Number of predictions that wait for feedback.
    late : int
        Number of losses that arrived after the loss of a newer prediction.
    expired : int
        Number of predictions that expired.

    Examples
    --------
    >>> issubclass(FeedbackEvent, ChangeEvent), issubclass(ResetEvent, ChangeEvent)
    (True, False)
    """

    at: float
    rounds: int
    risk: float | None
    pending: int
    late: int
    expired: int


class CreatedEvent(ChangeEvent, tag="created"):
    """The stream was created.

    Examples
    --------
    >>> CreatedEvent(0, 0.0, 0, None, 0, 0, 0).kind
    'created'
    """


class PredictedEvent(ChangeEvent, tag="predicted"):
    """A prediction was made.

    Attributes
    ----------
    id : str
        Id of the prediction.
    threshold : float
        Its threshold, in units of the score.
    size : float or None
        Size of its prediction set, if scores were sent: a number of labels, or a width.
    group : str, list of str or None
        Its group or groups, if sent.

    Examples
    --------
    >>> PredictedEvent(1, 0.0, 0, None, 1, 0, 0, id="a", threshold=0.5).kind
    'predicted'
    """

    id: str
    threshold: Extended
    size: Extended | None = None
    group: str | list[str] | None = None

    def __post_init__(self) -> None:
        """JSON has no infinity."""
        mark(self, "threshold", "size")


class FeedbackEvent(ChangeEvent, tag="feedback"):
    """The loss of a prediction arrived.

    Attributes
    ----------
    id : str
        Id of the prediction.
    loss : float
        Its loss.
    threshold, size, group
        As in the `PredictedEvent` of the prediction.

    Examples
    --------
    >>> FeedbackEvent(2, 0.0, 1, 1.0, 0, 0, 0, id="a", loss=1.0, threshold=0.5).kind
    'feedback'
    """

    id: str
    loss: float
    threshold: Extended
    size: Extended | None = None
    group: str | list[str] | None = None

    def __post_init__(self) -> None:
        """JSON has no infinity."""
        mark(self, "threshold", "size")


class AuditedEvent(ChangeEvent, tag="audited"):
    """An answer that a gate had withheld was audited; no loss was counted.

    Attributes
    ----------
    id : str
        Id of the prediction.
    loss : float
        1 if the answer would have been wrong, 0 if it would have been right.
    threshold : float
        The confidence that it did not exceed.

    Examples
    --------
    >>> AuditedEvent(2, 0.0, 0, None, 0, 0, 0, id="a", loss=1.0, threshold=0.9).kind
    'audited'
    """

    id: str
    loss: float
    threshold: float


class ExpiredEvent(ChangeEvent, tag="expired"):
    """A prediction expired before its loss arrived.

    Attributes
    ----------
    id : str
        Id of the prediction.
    loss : float or None
        The default loss that was used instead, if the stream has one.
    group : str, list of str or None
        Group or groups of the prediction, if sent.

    Examples
    --------
    >>> ExpiredEvent(2, 0.0, 0, None, 0, 0, 1, id="a").kind
    'expired'
    """

    id: str
    loss: float | None = None
    group: str | list[str] | None = None


class ImportedEvent(ChangeEvent, tag="imported"):
    """The state of the calibrator was replaced by an imported one.

    Examples
    --------
    >>> ImportedEvent(3, 0.0, 2, 0.5, 0, 0, 0).kind
    'imported'
    """


class HealthEvent(ChangeEvent, tag="health"):
    """The health of the stream, or of one of its groups, changed.

    Attributes
    ----------
    status, previous : str
        The new status and the one before: "ok", "drifting", "broken", "recovered" or
        "stale".
    since_round : int
        Number of losses, of the group if there is one, at the change.
    why : str
        The reason, in a sentence with numbers.
    group : str or None
        The group that changed; None for all rounds of the stream.

    Examples
    --------
    >>> why = "The risk is at least 0.13, above 0.12."
    >>> HealthEvent(9, 0.0, 90, 0.2, 0, 0, 0, "broken", "drifting", 90, why).kind
    'health'
    """

    status: Status
    previous: Status
    since_round: int
    why: str
    group: str | None = None


class AcknowledgedEvent(ChangeEvent, tag="acknowledged"):
    """The alarms were acknowledged: the evidence starts anew.

    Examples
    --------
    >>> AcknowledgedEvent(10, 0.0, 90, 0.2, 0, 0, 0).kind
    'acknowledged'
    """


class ChangedEvent(ChangeEvent, tag="changed"):
    """What may change of a stream's config has changed.

    Attributes
    ----------
    labels, timeout, default_loss, retention
        As in a config, from now on.

    Examples
    --------
    >>> ChangedEvent(4, 0.0, 0, None, 0, 0, 0, {"team": "pricing"}, 60.0, None, None).kind
    'changed'
    """

    labels: dict[str, str]
    timeout: float | None
    default_loss: float | None
    retention: float | None


class RenamedEvent(ChangeEvent, tag="renamed"):
    """The stream has another name. Subscribers stay; to subscribe again, use the new name.

    Attributes
    ----------
    previous, name : str
        The name before, and the name from now on.

    Examples
    --------
    >>> RenamedEvent(5, 0.0, 0, None, 0, 0, 0, previous="demand", name="demand-2").kind
    'renamed'
    """

    previous: str
    name: str


class RemovedEvent(ChangeEvent, tag="removed"):
    """Events and answered predictions were removed because of their age.

    Attributes
    ----------
    before : float
        Up to this time, in seconds since 1970.
    answered : int
        Number of answered predictions that were removed.

    Examples
    --------
    >>> RemovedEvent(6, 9e6, 0, None, 0, 0, 0, before=6e6, answered=3).kind
    'removed'
    """

    before: float
    answered: int


class DeletedEvent(ChangeEvent, tag="deleted"):
    """The stream was deleted, with all that was stored about it; the subscription ends.

    Examples
    --------
    >>> DeletedEvent(7, 0.0, 0, None, 0, 0, 0).kind
    'deleted'
    """


class ResetEvent(StreamEvent, tag="reset"):
    """Events were missed: read the history, and continue from `seq`, the latest event.

    Examples
    --------
    >>> ResetEvent(3).kind
    'reset'
    """


AnyEvent: TypeAlias = (
    CreatedEvent
    | PredictedEvent
    | FeedbackEvent
    | AuditedEvent
    | ExpiredEvent
    | ImportedEvent
    | HealthEvent
    | AcknowledgedEvent
    | ChangedEvent
    | RenamedEvent
    | RemovedEvent
    | DeletedEvent
    | ResetEvent
)
