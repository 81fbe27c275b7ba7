"""Server-sent events: one per change of a stream."""

from __future__ import annotations

from typing import TypeAlias

from localarc.wire.fields import Response


class StreamEvent(Response, tag_field="kind"):
    """Base of all events. As a server-sent event its id is `seq` and its name the kind.

    Attributes
    ----------
    seq : int
        Position of the event in the stream, from 0.
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
    """

    at: float
    rounds: int
    risk: float | None
    pending: int
    late: int
    expired: int


class CreatedEvent(ChangeEvent, tag="created"):
    """The stream was created."""


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
    group : str or None
        Its group, if one was sent.
    """

    id: str
    threshold: float
    size: float | None = None
    group: str | None = None


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
    """

    id: str
    loss: float
    threshold: float
    size: float | None = None
    group: str | None = None


class ExpiredEvent(ChangeEvent, tag="expired"):
    """A prediction expired before its loss arrived.

    Attributes
    ----------
    id : str
        Id of the prediction.
    loss : float or None
        The default loss that was used instead, if the stream has one.
    group : str or None
        Group of the prediction, if one was sent.
    """

    id: str
    loss: float | None = None
    group: str | None = None


class ImportedEvent(ChangeEvent, tag="imported"):
    """The state of the calibrator was replaced by an imported one."""


class ResetEvent(StreamEvent, tag="reset"):
    """Events were missed: read the history, and continue from `seq`, the latest event."""


AnyEvent: TypeAlias = (
    CreatedEvent | PredictedEvent | FeedbackEvent | ExpiredEvent | ImportedEvent | ResetEvent
)
