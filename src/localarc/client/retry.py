"""Retries: the same request again, after a pause that grows, when no answer can have meant no."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_BUSY = 503  # the service says: not now
_UNKNOWN = (502, 504)  # somebody on the way says that it does not know


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class Lost:
    """Nothing came back; `seen` says whether the service may have acted on the request."""

    error: Exception
    seen: bool = True


Outcome = Answer | Lost


@dataclass(frozen=True)
class Retries:
    """How often a request is repeated, and how long the pauses are.

    Pauses double from `first_pause` to `longest_pause` seconds; up to half of each is left to
    chance, so that many clients of a service that comes back do not arrive together. The default
    outlasts a restart of about ten seconds.

    >>> Retries(chance=lambda: 0.0).pause(0), Retries(chance=lambda: 0.0).pause(20)
    (0.05, 4.0)
    """

    times: int = 9
    first_pause: float = 0.05
    longest_pause: float = 4.0
    chance: Callable[[], float] = field(default=random.random, repr=False)

    def __post_init__(self) -> None:
        if self.times < 0 or not 0 <= self.first_pause <= self.longest_pause:
            raise ValueError(
                f"retries need times >= 0 and 0 <= first_pause <= longest_pause, got {self}. "
                "Retries(times=0) tries once."
            )

    def pause(self, failures: int, asked: float = 0.0) -> float:
        """Seconds to wait after so many failures, at least what the service asked for."""
        pause = min(self.longest_pause, self.first_pause * 2.0 ** min(failures, 60))
        return max(pause * (1.0 - 0.5 * self.chance()), min(asked, self.longest_pause))


class Tries:
    """The tries of one request: after each outcome, how long to wait, or that it stands."""

    def __init__(self, retries: Retries, repeatable: bool = True) -> None:
        self._retries = retries
        self._repeatable = repeatable
        self._failures = 0

    def pause_after(self, outcome: Outcome) -> float | None:
        """Seconds until the next try; None where the outcome stands."""
        if self._failures >= self._retries.times or not self._worth_repeating(outcome):
            return None
        asked = outcome.headers.get("retry-after", "") if isinstance(outcome, Answer) else ""
        pause = self._retries.pause(self._failures, float(asked) if asked.isdecimal() else 0.0)
        self._failures += 1
        return pause

    def _worth_repeating(self, outcome: Outcome) -> bool:
        if isinstance(outcome, Lost):
            return self._repeatable or not outcome.seen
        if outcome.status in _UNKNOWN:
            return self._repeatable
        invited = outcome.status == 429 and "retry-after" in outcome.headers
        return outcome.status == _BUSY or invited


class Waiting(Tries):
    """The tries of somebody who waits for a service to start: as many as fit into the time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(Retries(times=2**31, longest_pause=1.0))
        self._end = time.monotonic() + seconds

    def pause_after(self, outcome: Outcome) -> float | None:
        """Seconds until the next try; None where the outcome stands, or time is up."""
        return super().pause_after(outcome) if time.monotonic() < self._end else None
