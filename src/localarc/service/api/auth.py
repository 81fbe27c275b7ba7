"""Tokens: who may read, write, or replace a state."""

from __future__ import annotations

import enum
import hashlib
import hmac
import re
from collections.abc import Mapping
from pathlib import Path

from starlette.requests import Request

from localarc.service.api.errors import Refusal

_SHORTEST = 16
_COMMENT = re.compile(r"(?:^|\s)#")


class Scope(enum.IntEnum):
    """What a token allows; each scope includes the ones before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3


class Tokens:
    """The tokens of a service, kept as digests alone.

    Without any, everybody who can reach the service may read and write; nobody may do what takes
    an admin token.
    """

    def __init__(self, scopes: Mapping[str, Scope]) -> None:
        self._scopes = [(_digest(token), scope) for token, scope in scopes.items()]

    def __bool__(self) -> bool:
        return bool(self._scopes)

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """Tokens from a file with a scope and a token on each line.

        A `#` starts a comment, unless it is in the middle of a word: there it is part of the token.
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
            if len(words[1]) < _SHORTEST:
                raise ValueError(
                    f"{path}, line {number}: a token must have at least {_SHORTEST} characters; "
                    "`openssl rand -hex 32` makes a good one."
                )
            scopes[words[1]] = Scope[words[0].upper()]
        if not scopes:
            raise ValueError(f"{path} holds no token: write lines such as `write TOKEN`.")
        return cls(scopes)

    def admit(self, request: Request, needed: Scope | None) -> None:
        """Raise unless the request may do what it asks for."""
        if needed is None or (not self._scopes and needed < Scope.ADMIN):
            return
        if not self._scopes:
            raise Refusal(403, "this takes an admin token: start the service with --token-file.")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        granted = self._granted(token.strip()) if scheme.lower() == "bearer" else None
        if granted is None:
            raise Refusal(401, "a known token is needed: send Authorization: Bearer TOKEN.")
        if granted < needed:
            raise Refusal(
                403,
                f"the token allows to {granted.name.lower()}; this takes {needed.name.lower()}.",
            )

    def _granted(self, token: str) -> Scope | None:
        # All of them are compared, each in constant time, so that time tells nothing.
        given = _digest(token)
        matches = [scope for known, scope in self._scopes if hmac.compare_digest(known, given)]
        return matches[0] if matches else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
