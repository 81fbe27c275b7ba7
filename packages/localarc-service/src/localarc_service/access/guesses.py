"""Guesses: wrong tokens are counted per address, and slowed down after the first few.

An address that sent too many wrong tokens learns nothing more for a while, not even whether the
next one is right. Tokens that already worked from that address go on working: many clients can
share a proxy's address with an attacker.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

from localarc_service.access.buckets import Rule
from localarc_service.access.counts import AccessCounts
from localarc_service.access.token import Token
from localarc_service.errors import ApiError

AT_ONCE = 10  # wrong tokens of one address
PER_SECOND = 1 / 6  # further ones
_RULE = Rule(PER_SECOND, AT_ONCE)
_MAX_TRUSTED = 10_000  # that this process remembers by itself
_log = logging.getLogger("localarc.service")


class Guesses:
    """The wrong tokens of each address, and the right ones."""

    def __init__(
        self, counts: AccessCounts | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        counts = counts or AccessCounts()
        self._clock = clock
        self._buckets = counts.guesses
        self._marks = counts.marks
        self._trusted: dict[tuple[str, bytes], None] = {}  # a part of the marks, the latest last
        self.wrong = 0
        self.blocked = 0

    def check(self, address: str, token: Token | None) -> None:
        """Raise if the address must wait, unless this token has worked from there before."""
        if token is not None and (address, token.digest) in self._trusted:
            return
        wait = self._buckets.wait(address.encode(), _RULE, self._clock())
        if wait > 0.0 and not (token is not None and self._marks.get(self._trust(address, token))):
            self.blocked += 1
            raise ApiError(
                429, "too many wrong tokens came from this address: wait.", math.ceil(wait)
            )

    def fail(self, address: str) -> None:
        """Count a wrong token; the log names an address once when it has to wait."""
        self.wrong += 1
        now = self._clock()
        level = self._buckets.take(address.encode(), _RULE, 1, now)
        reported = self._marks.key(b"reported " + address.encode())
        with self._marks.lock:
            if level >= AT_ONCE:  # nothing happened lately
                self._marks.put(reported, now, 0.0)
            has_to_wait = _RULE.wait(level - 1.0) > 0.0
            _, before = self._marks.get(reported) or (now, 0.0)
            if has_to_wait and not before:
                self._marks.put(reported, now, 1.0)
        if has_to_wait and not before:
            _log.warning("address %s sent %d wrong tokens and has to wait", address, AT_ONCE)

    def trust(self, address: str, token: Token) -> None:
        """This token works, and comes from this address."""
        if (address, token.digest) in self._trusted:
            return
        self._trusted[address, token.digest] = None
        if len(self._trusted) > _MAX_TRUSTED:
            del self._trusted[next(iter(self._trusted))]
        with self._marks.lock:
            self._marks.put(self._trust(address, token), self._clock(), 1.0)

    def _trust(self, address: str, token: Token) -> bytes:
        return self._marks.key(b"trusted " + address.encode() + b" " + token.digest)

    def waiting(self) -> int:
        """How many addresses have to wait."""
        return sum(wait > 0.0 for wait in self._buckets.waits(_RULE, self._clock()))
