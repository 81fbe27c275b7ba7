"""Authentication: tokens with the scopes read, write and admin."""

from __future__ import annotations

import enum
import hashlib
import hmac
import re
from collections.abc import Mapping
from pathlib import Path

from localarc.service.api.errors import ApiError
from localarc.service.api.request import Request

_MIN_LENGTH = 16
_COMMENT = re.compile(r"(?:^|\s)#")


class Scope(enum.IntEnum):
    """What a token permits; each scope includes the previous ones."""

    READ = 1
    WRITE = 2
    ADMIN = 3


class Tokens:
    """The tokens of a service; only their digests are kept.

    Without tokens, everyone who can reach the service can read and write, and no one can do what
    requires an admin token.
    """

    def __init__(self, scopes: Mapping[str, Scope]) -> None:
        self._scopes = [(_digest(token), scope) for token, scope in scopes.items()]

    def __bool__(self) -> bool:
        return bool(self._scopes)

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """Read a file with a scope and a token on each line.

        A `#` starts a comment, except inside a token.
        """
        scopes: dict[str, Scope] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words = _COMMENT.split(line)[0].split()
            if not words:
                continue
            if len(words) != 2 or words[0].upper() not in Scope.__members__:
                raise ValueError(
                    f"{path}, line {number}: expected read, write or admin and a token."
                )
            if len(words[1]) < _MIN_LENGTH:
                raise ValueError(
                    f"{path}, line {number}: a token must have at least {_MIN_LENGTH} characters; "
                    "`openssl rand -hex 32` generates one."
                )
            scopes[words[1]] = Scope[words[0].upper()]
        if not scopes:
            raise ValueError(f"{path} contains no token: add lines such as `write TOKEN`.")
        return cls(scopes)

    def check(self, request: Request, required: Scope | None) -> None:
        """Raise unless the request has the required scope."""
        if required is None or (not self._scopes and required < Scope.ADMIN):
            return
        if not self._scopes:
            raise ApiError(
                403, "this requires an admin token: start the service with --token-file."
            )
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        granted = self._granted(token.strip()) if scheme.lower() == "bearer" else None
        if granted is None:
            raise ApiError(401, "a valid token is required: send Authorization: Bearer TOKEN.")
        if granted < required:
            raise ApiError(
                403,
                f"this token has the {granted.name.lower()} scope; this request requires "
                f"{required.name.lower()}.",
            )

    def _granted(self, token: str) -> Scope | None:
        # All tokens are compared, each in constant time, so that timing reveals nothing.
        given = _digest(token)
        matches = [scope for known, scope in self._scopes if hmac.compare_digest(known, given)]
        return matches[0] if matches else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
