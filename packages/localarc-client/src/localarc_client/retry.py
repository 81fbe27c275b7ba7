"""Retries: repeat a request after increasing pauses while its outcome is unknown or temporary."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import httpx

_UNAVAILABLE = 503  # the service is not ready
_UNKNOWN = (502, 504)  # a proxy got no response, so the outcome is unknown
_TOO_MANY = 429
_SHORT = 10.0  # seconds; a service that is unavailable for longer needs an operator


@dataclass(frozen=True)
class Reply:
    """A response was received."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @classmethod
    def of(cls, response: httpx.Response) -> Reply:
        """Return the reply in a response that has been read."""
        return cls(response.status_code, response.headers, response.content)


@dataclass(frozen=True)
class NoReply:
    """No response was received; `sent` is whether the service may have processed the request."""

    error: Exception
    sent: bool = True

    @classmethod
    def of(cls, error: Exception) -> NoReply:
        """Classify an error of the connection: a request cannot be sent before it is connected."""
        import httpx

        return cls(error, sent=not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout))


Attempt: TypeAlias = Reply | NoReply


@dataclass(frozen=True)
class Retries:
    """How often a request is repeated, and how long the pauses are.

    Pauses double from `first_pause` to `longest_pause`. A random part of up to one half is
    subtracted, so that the clients of a restarted service do not all return at once. The default
    outlasts a restart of about ten seconds.

    Parameters
    ----------
    times : int, default 9
        Largest number of repetitions; 0 tries once.
    first_pause : float, default 0.05
        First pause, in seconds.
    longest_pause : float, default 4.0
        Longest pause, in seconds. A request above a limit that the service asks to repeat later
        than that, with `Retry-After`, is not repeated.
    jitter : callable, default random.random
        Returns a number from 0 to 1: the share of the random part that is subtracted.

    Examples
    --------
    >>> exact = Retries(jitter=lambda: 0.0)
    >>> exact.pause(0), exact.pause(1), exact.pause(20)
    (0.05, 0.1, 4.0)
    """

    times: int = 9
    first_pause: float = 0.05
    longest_pause: float = 4.0
    jitter: Callable[[], float] = field(default=random.random, repr=False)

    def __post_init__(self) -> None:
        if self.times < 0 or not 0 <= self.first_pause <= self.longest_pause:
            raise ValueError(
                f"retries require times >= 0 and 0 <= first_pause <= longest_pause, got {self}. "
                "Retries(times=0) tries once."
            )

    def pause(self, failures: int, retry_after: float = 0.0) -> float:
        """Return the pause before the next attempt.

        Parameters
        ----------
        failures : int
            Number of failed repetitions before this pause.
        retry_after : float, default 0.0
            Pause that the service asks for, in seconds.

        Returns
        -------
        float
            The pause, in seconds.

        Examples
        --------
        >>> Retries(jitter=lambda: 1.0).pause(0, retry_after=2.0)
        2.0
        """
        pause = min(self.longest_pause, self.first_pause * 2.0 ** min(failures, 60))
        return max(pause * (1.0 - 0.5 * self.jitter()), min(retry_after, self.longest_pause))


class RetryState:
    """The attempts of one request so far."""

    def __init__(self, retries: Retries, repeatable: bool = True) -> None:
        self._retries = retries
        self._repeatable = repeatable
        self._failures = 0

    def pause_after(self, attempt: Attempt) -> float | None:
        """Return the seconds until the next attempt, or None if this one is final."""
        if self._failures >= self._retries.times or not self._is_temporary(attempt):
            return None
        pause = self._retries.pause(self._failures, _retry_after(attempt))
        self._failures += 1
        return pause

    def _is_temporary(self, attempt: Attempt) -> bool:
        if isinstance(attempt, NoReply):
            return self._repeatable or not attempt.sent
        if attempt.status in _UNKNOWN:
            return self._repeatable
        asked, longest = _retry_after(attempt), self._retries.longest_pause
        if attempt.status == _UNAVAILABLE:
            return asked <= max(longest, _SHORT)
        return attempt.status == _TOO_MANY and "retry-after" in attempt.headers and asked <= longest


def _retry_after(attempt: Attempt) -> float:
    """Return the seconds that the service asks to wait, 0 if it does not."""
    asked = attempt.headers.get("retry-after", "") if isinstance(attempt, Reply) else ""
    return float(asked) if asked.isdecimal() else 0.0


class WaitUntilReady(RetryState):
    """The attempts to reach a service that is starting: as many as fit into the time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(Retries(times=2**31, longest_pause=1.0))
        self._end = time.monotonic() + seconds

    def pause_after(self, attempt: Attempt) -> float | None:
        """Return the seconds until the next attempt, or None if this one is final or time is up."""
        return super().pause_after(attempt) if time.monotonic() < self._end else None
