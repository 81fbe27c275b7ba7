"""Entries: what the log holds. A stream is what its entries make of it, and nothing else."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from localarc.wire.config import StreamConfig


class Entry(msgspec.Struct, tag_field="kind", omit_defaults=True):
    """Something that happened to a stream, at a time by the service's clock."""

    at: float


class Creation(Entry, tag="created"):
    """The stream began; its seq is 0."""

    config: StreamConfig


class Prediction(Entry, tag="predicted"):
    """A threshold was told; replay must come to the same one."""

    id: str
    x: list[float]
    threshold: float
    group: str | None = None
    scores: list[float] | None = None


class Feedback(Entry, tag="learned"):
    """The loss of a prediction became known."""

    id: str
    loss: float


class Expiry(Entry, tag="expired"):
    """A loss is no longer awaited; a default was learnt, or nothing."""

    id: str
    loss: float | None = None


class Import(Entry, tag="imported"):
    """The calibrator was replaced by one in our state format."""

    state: bytes


AnyEntry: TypeAlias = Creation | Prediction | Feedback | Expiry | Import

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(AnyEntry).decode
