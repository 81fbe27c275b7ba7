"""Changes of a stream that are not about predictions: its config, its name, its old records."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from localarc_client.wire.events import ChangedEvent, ChangeEvent, RemovedEvent, RenamedEvent
from localarc_service.stored import events
from localarc_service.stored.format import WITHHELD

if TYPE_CHECKING:
    from localarc_service.streams.stream import Stream

Change: TypeAlias = events.ConfigChanged | events.StreamRenamed | events.RecordsRemoved


def apply_change(stream: Stream, event: Change) -> ChangeEvent:
    """Change the stream; raises and changes nothing if the event is impossible."""
    if isinstance(event, events.ConfigChanged):
        return _configure(stream, event)
    if isinstance(event, events.StreamRenamed):
        return _rename(stream, event)
    return _remove_records(stream, event)


def _configure(stream: Stream, event: events.ConfigChanged) -> ChangeEvent:
    state = stream.state
    new = {name: getattr(event, name) for name in ChangedEvent.__annotations__}
    config = msgspec.structs.replace(state.config, **new)
    state.first_config = state.first_config or msgspec.structs.replace(state.config, labels={})
    state.config = stream.method.config = stream.watch.config = config
    state.seq += 1
    return stream.change(ChangedEvent, event.at, **new)


def _rename(stream: Stream, event: events.StreamRenamed) -> ChangeEvent:
    previous, stream.name = stream.name, event.name
    stream.state.seq += 1
    return stream.change(RenamedEvent, event.at, previous=previous, name=event.name)


def _remove_records(stream: Stream, event: events.RecordsRemoved) -> ChangeEvent:
    state = stream.state
    old = {key: each for key, each in state.answered.items() if each.at <= event.before}
    for key, answered in old.items():
        if answered.outcome == WITHHELD:
            stream.method.forget_withheld(key)
        del state.answered[key]
    state.seq += 1
    stream.removed = state.seq, event.at
    return stream.change(RemovedEvent, event.at, before=event.before, answered=len(old))
