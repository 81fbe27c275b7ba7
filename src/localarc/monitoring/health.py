"""The health of a monitored stream: a status, since when, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Status: TypeAlias = Literal["ok", "drifting", "broken", "recovered", "stale"]


class Moment(NamedTuple):
    """A round, counted from 1 since the monitor was made, and its time, if it had one."""

    round: int
    at: float | None


@dataclass(frozen=True, slots=True)
class Health:
    """What a `Monitor` knows of its stream at one moment.

    Attributes
    ----------
    status
        `"ok"`, `"drifting"` (the risk of recent rounds is above `target + tolerance`; clears by
        itself), `"broken"` (the same for all rounds since the last acknowledgement or recovery),
        `"recovered"` (it was broken, and since then the risk of a stretch of rounds up to the
        latest was below; stays until acknowledged) or `"stale"` (no feedback for ten times the
        usual interval, and for `stale_after` seconds at least).
    since_round, since
        The round, counted from 1 since the monitor was made, that brought this status (0: none),
        and its time in seconds since the epoch, or None if it had no time. A stream is stale since
        the moment at which feedback was overdue.
    why
        One sentence with figures.
    rounds, risk, at_least
        Rounds since the last acknowledgement or recovery, their mean loss (None without rounds),
        and a lower limit of their expected mean loss that holds for all rounds at once.
    recent_rounds, recent_risk, recent_at_least
        The same for the last rounds: at most `window`, at least seven eighths of it.
    target, tolerance
        Those of the monitor.

    Examples
    --------
    >>> from localarc.monitoring import Monitor
    >>> health = Monitor(target=0.1).health()
    >>> health.status, health.rounds, health.at_least
    ('ok', 0, 0.0)
    """

    status: Status
    since_round: int
    since: float | None
    why: str
    rounds: int
    risk: float | None
    at_least: float
    recent_rounds: int
    recent_risk: float | None
    recent_at_least: float
    target: float
    tolerance: float
