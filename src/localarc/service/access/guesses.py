"""Guesses: wrong tokens are counted per address, and slowed down after the first few.

An address that sent too many wrong tokens learns nothing more for a while, not even whether the
next one is right. Tokens that already worked from that address go on working: many clients can
share the address of a proxy with somebody who guesses.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Any, TypeVar

from localarc.service.access.bucket import Bucket
from localarc.service.access.token import Token
from localarc.service.api.errors import ApiError

AT_ONCE = 10  # wrong tokens of one address
PER_SECOND = 1 / 6  # further ones
_MAX_ADDRESSES = 10_000  # that are remembered
_log = logging.getLogger("localarc.service")
Key = TypeVar("Key")


class Guesses:
    """The wrong tokens of each address, and the right ones."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}  # the latest wrong token last
        self._trusted: dict[tuple[str, bytes], None] = {}
        self._reported: set[str] = set()  # addresses that the log has named
        self.wrong = 0
        self.blocked = 0

    def check(self, address: str, token: Token | None) -> None:
        """Raise if the address must wait, unless this token has worked from there before."""
        bucket = self._buckets.get(address)
        if bucket is None or (token is not None and (address, token.digest) in self._trusted):
            return
        wait = bucket.wait(self._clock())
        if wait > 0.0:
            self.blocked += 1
            raise ApiError(
                429, "too many wrong tokens came from this address: wait.", math.ceil(wait)
            )

    def fail(self, address: str) -> None:
        """Count a wrong token; the log names an address once when it has to wait."""
        self.wrong += 1
        now = self._clock()
        bucket = self._buckets.pop(address, None) or Bucket(PER_SECOND, AT_ONCE, now)
        self._buckets[address] = bucket
        if bucket.is_full(now):
            self._reported.discard(address)
        bucket.take(1, now)
        if bucket.wait(now) > 0.0 and address not in self._reported:
            self._reported.add(address)
            _log.warning("address %s sent %d wrong tokens and has to wait", address, AT_ONCE)
        _drop_oldest(self._buckets)

    def trust(self, address: str, token: Token) -> None:
        """This token works, and comes from this address."""
        if (address, token.digest) not in self._trusted:
            self._trusted[address, token.digest] = None
            _drop_oldest(self._trusted)

    def waiting(self) -> int:
        """How many addresses have to wait; those without wrong tokens lately are forgotten."""
        now = self._clock()
        for address in [key for key, bucket in self._buckets.items() if bucket.is_full(now)]:
            del self._buckets[address]
        self._reported &= self._buckets.keys()
        return sum(bucket.wait(now) > 0.0 for bucket in self._buckets.values())


def _drop_oldest(remembered: dict[Key, Any]) -> None:
    if len(remembered) > _MAX_ADDRESSES:
        del remembered[next(iter(remembered))]
