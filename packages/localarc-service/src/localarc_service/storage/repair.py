"""Repair a data folder while no service uses it: accept or drop streams in quarantine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from pathlib import Path

from localarc_client.wire.quarantine import RecoverRequest, RecoverResponse
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.storage.store import EventStore
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.recovery import recover


def repair(
    folder: Path, accept: Collection[str], drop: Collection[str], accept_all: bool = False
) -> list[RecoverResponse]:
    """Decide about streams in one transaction: all of the decisions are stored, or none."""
    with contextlib.closing(EventStore(folder)) as store:
        manager = StreamManager(Limits(), time.time)
        manager.begin(store.load())
        manager.quarantined = dict(store.quarantined)
        if accept_all:
            accept = [*accept, *(each.name for each in store.quarantined.values() if each.readable)]
        try:
            done = [
                *(
                    recover(manager, name, RecoverRequest("accept"))
                    for name in dict.fromkeys(accept)
                ),
                *(recover(manager, name, RecoverRequest("drop")) for name in dict.fromkeys(drop)),
            ]
        except ApiError as error:
            raise ValueError(error.detail) from error
        store.append([], manager.replaced)
        return done
