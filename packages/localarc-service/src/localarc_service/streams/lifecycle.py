"""The life of a stream after its creation: change, rename, delete, and removal of old records."""

from __future__ import annotations

import itertools
from dataclasses import replace

from msgspec import UNSET, structs

from localarc_client.wire.events import DeletedEvent
from localarc_client.wire.fields import StreamName
from localarc_client.wire.lifecycle import (
    ChangeRequest,
    ChangeResponse,
    DeleteResponse,
    RenameRequest,
    RenameResponse,
)
from localarc_service.access.token import Token
from localarc_service.access.tokens import ANYONE
from localarc_service.errors import ApiError
from localarc_service.stored import events
from localarc_service.streams.manager import PendingWrite, StreamManager
from localarc_service.streams.stream import Stream

SLACK = 0.1
"""Records are removed when they are older than their retention by this part of it."""
_BATCH = 16  # streams whose old records are removed in one commit


def change(manager: StreamManager, stream: StreamName, body: ChangeRequest) -> ChangeResponse:
    """Change labels, timeout, default loss or retention; a retry has no effect."""
    found = manager.writable(stream)
    config = found.state.config
    old = {name: getattr(config, name) for name in body.__struct_fields__}
    new = old | {name: value for name, value in structs.asdict(body).items() if value is not UNSET}
    if new != old:
        manager.apply(found, events.ConfigChanged(at=manager.clock(), **new))
    return ChangeResponse(stream, found.state.seq, found.state.config)


def rename(
    manager: StreamManager, stream: StreamName, body: RenameRequest, token: Token = ANYONE
) -> RenameResponse:
    """Give a stream another name, under which it continues; pending predictions stay."""
    found, name = manager.writable(stream), body.name
    token.check_stream(name)
    if name in manager.streams or name in manager.quarantined:
        raise ApiError(409, f"there is a stream {name!r}: choose another name.")
    if not manager.owns(name):
        raise ApiError(
            409,
            f"a stream named {name!r} would belong to another worker, and cannot move there: "
            "choose another name, or move it with `localarc import --rename` while the service is "
            "stopped.",
        )
    _forget(manager, stream)
    manager.apply(found, events.StreamRenamed(at=manager.clock(), name=name))
    manager.replace({name: found}, ())
    manager.replaced[name] = found
    return RenameResponse(name, found.state.seq)


def delete(manager: StreamManager, stream: StreamName) -> DeleteResponse:
    """Delete a stream and all that is stored about it, also if it is damaged."""
    damaged = manager.quarantined.get(stream)
    if damaged is not None:
        del manager.quarantined[stream]
        manager.replaced[stream] = None
        manager.names_changed = True
        return DeleteResponse(stream, damaged.status().seq)
    found = manager.stream(stream)
    gone = found.change(DeletedEvent, manager.clock())
    gone.seq += 1
    _forget(manager, stream)
    manager.uncommitted.append(PendingWrite(stream, gone.seq, None, gone))
    return DeleteResponse(stream, found.state.seq)


def remove_old_records(manager: StreamManager) -> None:
    """Remove what is older than the retention of its stream, of some streams at a time.

    Events are removed by storing the stream as it is now instead of them.
    """
    now = manager.clock()
    due = (stream for stream in manager.streams.values() if _has_old_records(stream, now))
    for stream in itertools.islice(due, _BATCH):
        if stream.name not in manager.read_only:
            before = now - (stream.state.config.retention or 0.0)
            manager.apply(stream, events.RecordsRemoved(at=now, before=before))
            manager.replaced[stream.name] = stream


def _has_old_records(stream: Stream, now: float) -> bool:
    state = stream.state
    if state.config.retention is None:
        return False
    latest = now - (1.0 + SLACK) * state.config.retention
    seq, since = stream.removed
    oldest = next(iter(state.answered.values()), None)
    return (state.seq > seq and since <= latest) or (oldest is not None and oldest.at <= latest)


def _forget(manager: StreamManager, name: str) -> None:
    """Remove a stream in memory, and have all that is stored under its name removed.

    What the same commit would have stored about it is published, and not stored.
    """
    manager.replace({}, (name,))
    manager.read_only.discard(name)
    manager.replaced[name] = None
    manager.uncommitted = [
        replace(write, event=None) if write.stream == name else write
        for write in manager.uncommitted
    ]
