"""Quarantine: a stream whose stored data is damaged or incomplete, set aside until someone decides.

Its stored rows stay as they are. To accept it is to continue from what could be read; to drop it is
to delete what is stored about it.
"""

from __future__ import annotations

from dataclasses import dataclass

from localarc_client.wire.quarantine import QuarantinedStream
from localarc_service.errors import ApiError
from localarc_service.streams.stream import Stream


@dataclass(frozen=True)
class Quarantine:
    """Why a stream was set aside, what could be read of it, and how many events are missing."""

    name: str
    reason: str
    readable: Stream | None
    missing: int

    def error(self) -> ApiError:
        """What every request to the stream gets."""
        ways = "accept what could be read or drop it" if self.readable else "drop it"
        return ApiError(
            503,
            f"stream {self.name!r} is quarantined: {self.reason}. Stop the service and restore "
            f"the data folder from a backup, or {ways}: POST /v1/streams/{self.name}/recovery "
            "with an admin token, or `localarc repair`.",
            retry_after=60,
        )

    def status(self) -> QuarantinedStream:
        """The stream in lists."""
        seq = None if self.readable is None else self.readable.state.seq
        return QuarantinedStream(self.name, self.reason, seq, self.missing)
