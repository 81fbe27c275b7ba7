"""The book of a stream: all that it must remember beside its calibrator."""

from __future__ import annotations

import hashlib

import msgspec

from localarc.service.streams.history import Series
from localarc.wire.config import StreamConfig


class Pending(msgspec.Struct, array_like=True):
    """A prediction that awaits its loss."""

    seq: int
    at: float
    digest: bytes
    threshold: float
    x: bytes
    group: str | None
    size: float | None


class Answered(msgspec.Struct, array_like=True):
    """A prediction whose loss is known, or that expired; kept so that repeats get their answer."""

    seq: int
    digest: bytes
    threshold: float
    loss: float | None
    feedback_seq: int
    rounds: int
    expired: bool


class GroupSum(msgspec.Struct, array_like=True):
    """The losses of one group."""

    rounds: int = 0
    loss_sum: float = 0.0


class FeatureSum(msgspec.Struct, array_like=True):
    """What was seen of one feature."""

    low: float
    high: float
    total: float


class Book(msgspec.Struct, array_like=True):
    """Everything countable about a stream."""

    config: StreamConfig
    created: float
    seq: int = 0
    predictions: int = 0
    rounds: int = 0
    loss_sum: float = 0.0
    late: int = 0
    expired: int = 0
    outstanding: int = 0
    newest_learnt: int = 0
    pending: dict[str, Pending] = {}
    answered: dict[str, Answered] = {}
    groups: dict[str, GroupSum] = {}
    features: list[FeatureSum] = []
    series: Series = msgspec.field(default_factory=Series)

    @property
    def risk(self) -> float | None:
        """The mean of the losses that were learnt."""
        return self.loss_sum / self.rounds if self.rounds else None

    def see(self, x: list[float], group: str | None) -> None:
        """Widen the ranges of the features, and note the group."""
        if group is not None:
            self.groups.setdefault(group, GroupSum())
        if not self.features:
            self.features = [FeatureSum(value, value, 0.0) for value in x]
        for feature, value in zip(self.features, x, strict=True):
            feature.low = min(feature.low, value)
            feature.high = max(feature.high, value)
            feature.total += value

    def count(self, loss: float, group: str | None) -> None:
        """Add a loss to the sums."""
        self.rounds += 1
        self.loss_sum += loss
        if group is not None:
            part = self.groups[group]
            part.rounds += 1
            part.loss_sum += loss

    def begin_again(self, rounds: int, risk: float) -> None:
        """Take over the sums of a calibrator from elsewhere; groups and series start anew."""
        self.rounds = rounds
        self.loss_sum = risk * rounds if rounds else 0.0
        self.groups = {group: GroupSum() for group in self.groups}
        self.series = Series()

    def answer(self, key: str, answered: Answered) -> None:
        """Move a prediction out of the pending ones, and forget the oldest answers."""
        del self.pending[key]
        self.answered[key] = answered
        while len(self.answered) > self.config.retain:
            del self.answered[next(iter(self.answered))]


def digest(x: bytes, group: str | None, scores: list[float] | None) -> bytes:
    """What tells one request's body from another's."""
    rest = msgspec.msgpack.encode((group, scores))
    return hashlib.blake2b(x + rest, digest_size=16).digest()
