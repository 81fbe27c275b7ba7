"""Recovery: the decision about a stream in quarantine, applied in memory."""

from __future__ import annotations

from localarc_client.wire.fields import StreamName
from localarc_client.wire.quarantine import RecoverRequest, RecoverResponse
from localarc_service.errors import ApiError
from localarc_service.streams.manager import StreamManager


def recover(manager: StreamManager, stream: StreamName, body: RecoverRequest) -> RecoverResponse:
    """Decide about a stream in quarantine: accept what could be read of it, or drop it."""
    return (_accept if body.action == "accept" else _drop)(manager, stream)


def _accept(manager: StreamManager, name: str) -> RecoverResponse:
    """Continue from what could be read, and acknowledge thresholds that differed on replay."""
    stream = manager.streams.get(name)
    if name in manager.quarantined:
        stream = manager.quarantined[name].readable
        if stream is None:
            raise ApiError(409, f"nothing of stream {name!r} could be read: drop it.")
        del manager.quarantined[name]
    if stream is None:
        raise ApiError(404, f"there is no stream {name!r}.")
    stream.replay_differs = 0
    manager.replaced[name] = stream
    manager.replace({name: stream}, ())
    return RecoverResponse(name, "accept", stream.state.seq)


def _drop(manager: StreamManager, name: str) -> RecoverResponse:
    if name in manager.streams:
        raise ApiError(409, f"stream {name!r} is not in quarantine: it cannot be dropped.")
    if name not in manager.quarantined:
        raise ApiError(404, f"there is no stream {name!r} in quarantine.")
    del manager.quarantined[name]
    manager.replaced[name] = None
    manager.names_changed = True
    return RecoverResponse(name, "drop", None)
