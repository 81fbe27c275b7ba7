"""Stored events, version 7: a stream is what its events make of it, and nothing else.

Events are stored as JSON by field name; `format.py` says how to change them.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import msgspec

from localarc_client.wire.config import StreamConfig
from localarc_client.wire.infinite import Extended, as_text, mark
from localarc_service.stored.format import Group, HealthState, Outcome, Score, Stored

UNKNOWN = math.nan
"""The threshold of a prediction that is not made yet; JSON, and thus the store, has no NaN."""


class StoredEvent(Stored, tag_field="kind", omit_defaults=True):
    """Something that happened to a stream, at a time of the service's clock."""

    at: float


class StreamCreated(StoredEvent, tag="stream_created"):
    """The stream was created; its seq is 0."""

    config: StreamConfig


class PredictionMade(StoredEvent, tag="prediction_made"):
    """A threshold was returned; replay must compute the same one.

    Until the event happens its threshold is `UNKNOWN`: `Stream.apply` writes it down. The `scores`
    of a gate are the model's confidence, one number. `informed` is stored, since before version 6
    no prediction counted apart.
    """

    id: str
    x: list[float]
    threshold: Extended
    group: Group = None
    scores: list[float] | None = None
    informed: bool = True

    def __post_init__(self) -> None:
        """JSON has no infinity."""
        mark(self, "threshold")

    def answer(self, threshold: float) -> None:
        """Write down the threshold that is returned."""
        self.threshold = threshold
        mark(self, "threshold")


class FeedbackReceived(StoredEvent, tag="feedback_received"):
    """The loss of a prediction was reported, or follows from the outcome that was.

    For an answer that a gate withheld, it is what an audit found. The `score` of a gate is the
    probability with which an answer was to be looked at, if only some are; a loss means nothing
    where the `outcome` is that it was passed over.
    """

    id: str
    loss: float
    score: Score = None
    outcome: Outcome = None


class PredictionExpired(StoredEvent, tag="prediction_expired"):
    """No feedback arrived in time; the calibrator learned the default loss, if there is one."""

    id: str
    loss: float | None = None


class StateImported(StoredEvent, tag="state_imported"):
    """The calibrator was replaced by a state in the library's format."""

    state: bytes


class HealthChanged(StoredEvent, tag="health_changed"):
    """The state of a monitor changed, and it was announced; all rounds have no group.

    Replay computes monitors from losses. What was announced is stored, because `stale` depends on
    the clock.
    """

    state: HealthState
    previous: HealthState
    since_round: int
    why: str
    group: str | None = None


class Acknowledged(StoredEvent, tag="acknowledged"):
    """The alarms were acknowledged: all monitors start anew."""


class ConfigChanged(StoredEvent, tag="config_changed"):
    """What may change of a config, as it is from now on."""

    labels: dict[str, str]
    timeout: float | None
    default_loss: float | None
    retention: float | None


class StreamRenamed(StoredEvent, tag="stream_renamed"):
    """The stream has another name; the one before is not kept."""

    name: str


class RecordsRemoved(StoredEvent, tag="records_removed"):
    """Answered predictions up to a time were forgotten; the store drops the events so far."""

    before: float


Event: TypeAlias = (
    StreamCreated
    | PredictionMade
    | FeedbackReceived
    | PredictionExpired
    | StateImported
    | HealthChanged
    | Acknowledged
    | ConfigChanged
    | StreamRenamed
    | RecordsRemoved
)

encode = msgspec.json.Encoder(enc_hook=as_text).encode
decode = msgspec.json.Decoder(Event).decode
