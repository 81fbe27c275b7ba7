"""The stored format, version 7: a stream's state and its snapshot.

These classes are the schema of a data folder, together with `events.py` and the config of a stream,
stored as it is sent: `localarc_client.wire.config`. Other wire types are separate, so that the API
can change without touching what is on disk. Every class is stored by field name, except `Answered`:
a stream remembers thousands of those, and names would double their size.

To change a field, its name, its type or, in `Answered`, its position: increment `VERSION`, add a
migration to `migrations.py`, and add a golden data folder (tests/service/golden).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from localarc import serialization
from localarc_client.wire.config import StreamConfig

VERSION = 7
_SNAPSHOT = "Stream"

Group: TypeAlias = str | list[str] | None
"""The group of a prediction, several, or none; as it was sent."""
Score: TypeAlias = float | Literal["inf", "-inf"] | None
"""A score; JSON has no infinity."""
Outcome: TypeAlias = float | str | None
"""What came true: a number, a label, or the position of a label."""
HealthState: TypeAlias = Literal["ok", "drifting", "broken", "recovered", "stale"]
"""Whether the losses of a stream or of a group keep the promise."""
WITHHELD = "withheld"
"""The outcome of an answered prediction whose answer a gate withheld; an audit adds the loss."""
PASSED_OVER = "passed over"
"""The outcome of an answer of a gate that could have been looked at and was not."""


class Stored(msgspec.Struct, forbid_unknown_fields=True):
    """A part of the stored format."""


# ---- the state of a stream -------------------------------------------------------------------


class Pending(Stored):
    """A prediction without feedback. `x` and `scores` hold little-endian float64.

    `ticket` is the calibrator's own number of the prediction, where it issues tickets.
    """

    seq: int
    at: float
    digest: bytes
    threshold: float
    x: bytes
    group: Group
    size: float | None
    scores: bytes | None
    ticket: int | None
    informed: bool
    """Whether any loss had been learned when the prediction was made, where that matters."""


class Answered(Stored, array_like=True):
    """A prediction that received feedback or expired, remembered so that retries are idempotent."""

    seq: int
    digest: bytes
    threshold: float
    loss: float | None
    feedback_seq: int
    rounds: int
    expired: bool
    score: Score
    outcome: Outcome
    at: float


class GroupSum(Stored):
    """The losses of one group."""

    rounds: int = 0
    loss_sum: float = 0.0


class FeatureSum(Stored):
    """The range and the sum of one feature, over all predictions."""

    low: float
    high: float
    total: float


class History(Stored):
    """Columns with one value every `stride` rounds."""

    stride: int = 1
    rounds: list[int] = []
    at: list[float] = []
    risk: list[float] = []
    threshold: list[float] = []
    size: list[float | None] = []
    observed: list[float | None] = []
    pending: list[int] = []
    late: list[int] = []
    expired: list[int] = []


class State(Stored):
    """Everything about a stream except its name and its calibrator."""

    config: StreamConfig
    created: float
    seq: int = 0
    predictions: int = 0
    rounds: int = 0
    loss_sum: float = 0.0
    late: int = 0
    expired: int = 0
    outstanding: int = 0
    """Largest number of other predictions that were pending when one was made."""
    newest_learned: int = 0
    """Largest seq of a prediction that received feedback: older ones are late."""
    pending: dict[str, Pending] = {}
    answered: dict[str, Answered] = {}
    groups: dict[str, GroupSum] = {}
    features: list[FeatureSum] = []
    history: History = msgspec.field(default_factory=History)
    first_config: StreamConfig | None = None
    """The config that the stream was created with, without its labels, if it was changed since."""
    imported: bool = False
    """Whether a state was imported: what was pending in its rounds is not known."""
    max_delay: float = 0.0
    """Longest time between a prediction and its loss, in seconds."""
    uninformed: int = 0
    """Number of losses of predictions that were made before anything was known."""
    uninformed_loss: float = 0.0


class Announced(Stored):
    """The latest change of health that was announced, with its position in the stream."""

    seq: int
    at: float
    state: HealthState
    previous: HealthState
    since_round: int
    why: str


class Watch(Stored):
    """The monitors of a stream's losses, by group; the empty name stands for all rounds."""

    monitors: dict[str, dict[str, Any]]
    announced: dict[str, Announced]
    """The parts that are not ok, as far as it was announced."""


# ---- snapshots -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Snapshot:
    """A whole stream: `state` is a `State` and `watch` a `Watch` in MessagePack.

    `calibrator` is what its `state()` returns.
    """

    name: str
    replay_differs: int
    state: bytes
    watch: bytes
    calibrator: bytes


def encode_snapshot(snapshot: Snapshot) -> bytes:
    """A snapshot in the state format of the library: without pickle, protected by a checksum."""
    content = {"name": snapshot.name, "replay_differs": snapshot.replay_differs}
    parts = {
        "state": np.frombuffer(snapshot.state, np.uint8),
        "watch": np.frombuffer(snapshot.watch, np.uint8),
        "calibrator": np.frombuffer(snapshot.calibrator, np.uint8),
    }
    return serialization.encode(_SNAPSHOT, content, parts)


def decode_snapshot(data: bytes) -> Snapshot:
    """The snapshot that was encoded."""
    kind, content, arrays = serialization.decode(data, "the snapshot")
    if kind != _SNAPSHOT:
        raise serialization.StateError(f"a snapshot has kind {_SNAPSHOT}, got {kind}.")
    return Snapshot(
        content["name"],
        content["replay_differs"],
        arrays["state"].tobytes(),
        arrays["watch"].tobytes(),
        arrays["calibrator"].tobytes(),
    )


# ---- requests --------------------------------------------------------------------------------


def to_bytes(x: Sequence[float]) -> bytes:
    """An input as it is stored: little-endian float64."""
    return np.array(x, dtype="<f8").tobytes()


def request_digest(x: bytes, group: Group, scores: list[float] | None) -> bytes:
    """Identifies the body of a prediction request, so that a retry can be recognized.

    BLAKE2b with 16 bytes, of x followed by the MessagePack of `[group, scores]`. Digests are stored
    and compared with those of later requests, by later versions too: if requests get another
    field, append it only where it is set, so that all requests without it keep their digests.
    """
    rest = msgspec.msgpack.encode([group, scores])
    return hashlib.blake2b(x + rest, digest_size=16).digest()
