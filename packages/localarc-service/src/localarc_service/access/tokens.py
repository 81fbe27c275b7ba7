"""The tokens of a service: who sends a request, and how many more requests they may send."""

from __future__ import annotations

import hmac
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from localarc_service.access import token_file
from localarc_service.access.buckets import Rule
from localarc_service.access.counts import AccessCounts
from localarc_service.access.guesses import Guesses
from localarc_service.access.token import Scope, Token, digest_of
from localarc_service.errors import ApiError

ANYONE = Token("anyone", Scope.WRITE)
"""Who sends a request that requires no token."""


class Tokens:
    """The tokens of a service; only their digests are kept.

    `counts` may be shared with other processes of the service: a quota applies to all of
    them together. Without tokens, everyone who can reach the service can read and write, and no
    one can do what requires an admin token.
    """

    def __init__(
        self,
        tokens: Mapping[str, Scope] | Iterable[Token],
        clock: Callable[[], float] = time.time,
        steady_clock: Callable[[], float] = time.monotonic,
        counts: AccessCounts | None = None,
    ) -> None:
        counts = counts or AccessCounts()
        if isinstance(tokens, Mapping):
            named = enumerate(tokens.items(), 1)
            tokens = [Token(f"token-{n}", scope, digest_of(each)) for n, (each, scope) in named]
        self._tokens = {token.digest: token for token in tokens}
        self._clock = clock
        self._steady_clock = steady_clock
        self._requests = counts.requests
        self.guesses = Guesses(counts, steady_clock)
        self.over_quota: Counter[tuple[str, str]] = Counter()  # by token and quota

    def __bool__(self) -> bool:
        return bool(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    @classmethod
    def read(cls, path: Path, counts: AccessCounts | None = None) -> Tokens:
        """The tokens of a file."""
        return cls(token_file.read(path), counts=counts)

    def replace(self, tokens: Iterable[Token]) -> None:
        """Use other tokens from now on; at least one, since none would let everybody in."""
        found = {token.digest: token for token in tokens}
        if not found:
            raise ValueError("there must be at least one token.")
        self._tokens = found

    def identify(self, authorization: str, address: str, required: Scope) -> Token:
        """The token of a request; raises if it is missing, unknown or expired."""
        if not self._tokens:
            if required < Scope.ADMIN:
                return ANYONE
            raise ApiError(
                403, "this requires an admin token: start the service with --token-file."
            )
        scheme, _, secret = authorization.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise ApiError(401, "a valid token is required: send Authorization: Bearer TOKEN.")
        token = self._find(secret.strip())
        self.guesses.check(address, token)
        if token is None:
            self.guesses.fail(address)
            raise ApiError(401, "a valid token is required: send Authorization: Bearer TOKEN.")
        if self._clock() >= token.expires:
            raise ApiError(401, "this token has expired: ask for another one.")
        self.guesses.trust(address, token)
        return token

    def _find(self, secret: str) -> Token | None:
        # The time of the search depends on the digest, which no client can choose; the match is
        # compared in constant time.
        given = digest_of(secret)
        found = self._tokens.get(given)
        return found if found is not None and hmac.compare_digest(found.digest, given) else None

    def is_valid(self, token: Token) -> bool:
        """Whether a token still holds, as it was: it may have expired, changed or gone."""
        if token is ANYONE:
            return True
        return self._tokens.get(token.digest) == token and self._clock() < token.expires

    def expiry_times(self) -> dict[str, float]:
        """When tokens expire that do, by name."""
        tokens = self._tokens.values()
        return {token.name: token.expires for token in tokens if token.expires < math.inf}

    # ---- quotas ------------------------------------------------------------------------------

    def admit(self, token: Token) -> None:
        """Count a request; raises if there were too many lately."""
        if token.requests == math.inf:
            return
        wait = self._requests.admit(*_quota(token), self._steady_clock())
        if wait > 0.0:
            self.over_quota[token.name, "requests"] += 1
            raise ApiError(
                429, f"this token permits {token.requests:g} request(s) a second.", math.ceil(wait)
            )

    def charge(self, token: Token, count: int) -> None:
        """Count further requests, the operations of a batch: later requests wait for them."""
        if token.requests < math.inf:
            self._requests.take(*_quota(token), count, self._steady_clock())

    def check_room(self, token: Token, stream: str, streams: Iterable[str]) -> None:
        """Raise if the token permits no more streams than there are; `stream` may be one of them.

        Streams belong to a token by their names, not by who created them.
        """
        others = sum(token.permits(each) for each in streams if each != stream)
        if others >= token.max_streams:
            self.over_quota[token.name, "streams"] += 1
            raise ApiError(
                429, f"this token permits {token.max_streams:g} stream(s), and there are {others}."
            )


@lru_cache(maxsize=4096)
def _quota(token: Token) -> tuple[bytes, Rule]:
    """The name of the bucket of a token, which begins anew with another quota, and its rule."""
    rule = Rule(token.requests, max(1.0, token.requests))
    return token.digest + f" {token.requests}".encode(), rule
