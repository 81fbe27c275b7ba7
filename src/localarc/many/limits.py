"""Limits of what is kept: how late rows may come, how long keys live, how many asks are pending."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

from localarc import validation
from localarc.many.columns import Columns

_MICROSECOND, _MILLISECOND = timedelta(microseconds=1), timedelta(milliseconds=1)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How late rows may come, how long keys are kept, and how many asks of a key are pending.

    Parameters
    ----------
    delay : timedelta, optional
        How late rows may come, in whole milliseconds; required with `Columns.time`, except where a
        single frame has all rows, and on Spark, where the stream's watermark says it.
    ttl : timedelta, optional
        A key without events for longer than this starts anew, and is dropped once the watermark has
        passed; with `Columns.time`.
    max_pending : int, optional
        How many asks of a key can be pending; one more, and the oldest is given up. Its outcome is
        then rejected as an unknown id. With `Columns.kind`.

    Examples
    --------
    >>> from datetime import timedelta
    >>> from localarc.many import Limits
    >>> Limits(delay=timedelta(minutes=10), max_pending=1000).max_pending
    1000
    """

    delay: timedelta | None = None
    ttl: timedelta | None = None
    max_pending: int | None = None

    def __post_init__(self) -> None:
        if self.max_pending is not None:
            meaning = "It is a number of asks per key."
            validation.integer("max_pending", self.max_pending, 1, meaning)
        _check("delay", self.delay, timedelta(0), "how late rows may come")
        _check("ttl", self.ttl, _MILLISECOND, "how long a key is kept without events")

    @property
    def delay_in_microseconds(self) -> int:
        """The delay in whole milliseconds, as Spark's; 0 without one."""
        return 0 if self.delay is None else self.delay // _MILLISECOND * 1000

    @property
    def ttl_in_microseconds(self) -> int | None:
        """The time-to-live; None without one."""
        return None if self.ttl is None else self.ttl // _MICROSECOND

    def check(self, columns: Columns, delays: bool) -> None:
        """Raise unless the limits fit the columns.

        Parameters
        ----------
        columns : Columns
            The columns of the rows.
        delays : bool
            Whether rows by time require a delay; otherwise none can be given.
        """
        for name, value in (("delay", self.delay), ("ttl", self.ttl)):
            if value is not None and columns.time is None:
                raise ValueError(f"{name}= requires time=, the column with the time of each event.")
        if self.max_pending is not None and not columns.late:
            raise ValueError("max_pending= requires kind= and id=: only asks can be pending.")
        if delays and columns.time is not None and self.delay is None:
            raise ValueError(
                "time= requires delay=, how late rows may come: they wait that long for earlier "
                "ones. For example, Limits(delay=timedelta(minutes=10))."
            )
        if not delays and self.delay is not None:
            raise ValueError(
                "delay= has no effect here: a single frame has all rows, and on Spark "
                "withWatermark says how late rows may come. Leave it out."
            )

    def to_json(self) -> dict[str, Any]:
        """Return the limits for storage, durations in microseconds."""
        delay, ttl = self.delay_in_microseconds, self.ttl_in_microseconds
        return {"delay": delay, "ttl": ttl, "max_pending": self.max_pending}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return the limits that `to_json` stored; none that was not stored.

        Parameters
        ----------
        stored : dict
            The result of `to_json`.
        """
        durations = {name: stored.get(name) for name in ("delay", "ttl")}
        given = {n: None if v is None else v * _MICROSECOND for n, v in durations.items()}
        return cls(**given, max_pending=stored.get("max_pending"))

    def watermark(self, newest: int) -> int:
        """Return the watermark in whole milliseconds, as Spark's.

        Parameters
        ----------
        newest : int
            The latest time of an event so far, in microseconds since 1970, as is the watermark.
        """
        return newest // 1000 * 1000 - self.delay_in_microseconds


def _check(name: str, value: timedelta | None, least: timedelta, meaning: str) -> None:
    if value is None:
        return
    if not isinstance(value, timedelta):
        raise TypeError(f"{name} must be a datetime.timedelta, {meaning}; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, {meaning}; got {value}.")
