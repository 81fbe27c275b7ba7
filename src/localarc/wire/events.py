"""Notices: what listeners are told, as server-sent events."""

from __future__ import annotations

from typing import TypeAlias

from localarc.wire.fields import Message


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
