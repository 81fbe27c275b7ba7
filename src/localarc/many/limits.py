"""Limits of what is kept: how late rows may come, how long keys live, how many asks are pending."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from localarc import validation
from localarc.many.columns import Roles

_MICROSECOND, _MILLISECOND = timedelta(microseconds=1), timedelta(milliseconds=1)


@dataclass(frozen=True)
class Limits:
    """Durations in microseconds, and a number of asks per key; None for no limit."""

    delay: int = 0
    ttl: int | None = None
    max_pending: int | None = None

    @classmethod
    def checked(
        cls,
        roles: Roles,
        *,
        delay: timedelta | None = None,
        ttl: timedelta | None = None,
        max_pending: int | None = None,
    ) -> Self:
        """Limits that fit the roles; raises if they do not."""
        for name, value in (("delay", delay), ("ttl", ttl)):
            if value is not None and roles.time is None:
                raise ValueError(f"{name}= requires time=, the column with the time of each event.")
        if max_pending is not None:
            if not roles.late:
                raise ValueError("max_pending= requires kind= and id=: only asks can be pending.")
            validation.integer("max_pending", max_pending, 1, "It is a number of asks per key.")
        short = _duration("delay", delay, timedelta(0), "how late rows may come")
        return cls(
            (short or 0) // 1000 * 1000,  # in milliseconds, as Spark's
            _duration("ttl", ttl, _MILLISECOND, "how long a key is kept without events"),
            max_pending,
        )

    def to_json(self) -> dict[str, Any]:
        """The limits, for storage."""
        return dict(vars(self))

    def watermark(self, newest: int) -> int:
        """The watermark once an event of this time was seen, in whole milliseconds, as Spark's."""
        return newest // 1000 * 1000 - self.delay


def check_delay(roles: Roles, delay: timedelta | None) -> None:
    """Raise if event times are used without saying how late rows may come."""
    if roles.time is not None and delay is None:
        raise ValueError(
            "time= requires delay=, how late rows may come: they wait that long for earlier ones. "
            "For example, delay=timedelta(minutes=10)."
        )


def _duration(name: str, value: timedelta | None, least: timedelta, meaning: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} must be a datetime.timedelta, {meaning}; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, {meaning}; got {value}.")
    return value // _MICROSECOND
