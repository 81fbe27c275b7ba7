"""A token: whose it is, what it permits, for which streams and until when."""

from __future__ import annotations

import enum
import hashlib
import math
from dataclasses import dataclass

from localarc_service.errors import ApiError


class Scope(enum.IntEnum):
    """What a token permits; each scope includes the previous ones."""

    READ = 1
    WRITE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Token:
    """What a secret permits; only its digest is kept.

    `streams` are names, and prefixes that end with `*`; empty for all. `expires` is a time,
    `requests` a number per second, and `max_streams` limits how many streams match `streams`.
    """

    name: str
    scope: Scope
    digest: bytes = b""
    streams: tuple[str, ...] = ()
    expires: float = math.inf
    requests: float = math.inf
    max_streams: float = math.inf

    def permits(self, stream: str) -> bool:
        """Whether the token is for this stream.

        >>> token = Token("eu", Scope.READ, streams=("demand", "eu-*"))
        >>> [token.permits(name) for name in ("demand", "eu-north", "demand-2", "us-east")]
        [True, True, False, False]
        """
        return not self.streams or any(_matches(pattern, stream) for pattern in self.streams)

    def check_scope(self, required: Scope) -> None:
        """Raise unless the token has the required scope."""
        if self.scope < required:
            raise ApiError(
                403,
                f"this token has the {self.scope.name.lower()} scope; this request requires "
                f"{required.name.lower()}.",
            )

    def check_stream(self, stream: str | None) -> None:
        """Raise unless the token is for this stream; None stands for the whole service."""
        if stream is None and self.streams:
            raise ApiError(
                403,
                "this token is limited to some streams; this request is about the whole service.",
            )
        if stream is not None and not self.permits(stream):
            raise ApiError(403, f"this token is not for stream {stream[:80]!r}.")


def _matches(pattern: str, stream: str) -> bool:
    if pattern.endswith("*"):
        return stream.startswith(pattern[:-1])
    return stream == pattern


def digest_of(secret: str) -> bytes:
    """What is kept of a secret.

    Secrets are long and random, so that a fast hash suffices: there is nothing to guess.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()
