"""The monitor of one stream: losses in, a status out, valid at every look."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any, Self

from localarc import validation
from localarc.monitoring import reasons
from localarc.monitoring import state as stored
from localarc.monitoring.bets import Sums, Tally, log_evidence, lower_limit
from localarc.monitoring.change import ChangeDetector, start_money
from localarc.monitoring.health import Health, Moment, Status
from localarc.monitoring.intervals import Intervals
from localarc.monitoring.recent import Recent
from localarc.monitoring.recovery import Recovery
from localarc.monitoring.settings import Settings
from localarc.serialization import StateError


class Monitor:
    """Says when the risk of a stream is above `target + tolerance`, however often it is asked.

    The probability of ever calling a stream that keeps its promise `drifting` or `broken` is at
    most `level`; the same holds for calling a stream `recovered` while its risk stays above. An
    update takes a few microseconds and a monitor about two kilobytes, after any number of rounds.
    See `docs/monitoring.md` for what is proved.

    Parameters
    ----------
    target
        The risk that you accept in the long run, above 0.
    tolerance
        How far above the target the risk may lie without an alarm, 0.02 by default.
    level
        Probability of a false alarm of any kind, over all rounds together, 0.01 by default. Half of
        it goes to each kind.
    window
        Rounds that count as recent, and rounds without evidence after which `drifting` clears.
    max_loss
        The largest possible loss; losses lie in [0, max_loss].
    stale_after
        Seconds without feedback before a stream can be `stale`, 15 minutes by default; ten times
        the usual interval is required as well.

    Examples
    --------
    >>> monitor = Monitor(target=0.1)
    >>> changes = [monitor.update(float(t % 4 == 0)) for t in range(2000)]  # a risk of 0.25
    >>> changes.index("broken")
    108
    >>> health = monitor.health()
    >>> health.status, round(health.at_least, 2)
    ('broken', 0.22)

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", Journal of
    the Royal Statistical Society B 86 (2024). Shin, Ramdas and Rinaldo, "E-detectors: a
    nonparametric framework for sequential change detection", New England Journal of Statistics in
    Data Science (2023).
    """

    __slots__ = (
        "_all",
        "_broken",
        "_change",
        "_intervals",
        "_reached",
        "_recent",
        "_recovered",
        "_recovery",
        "_settings",
        "_since",
        "_since_round",
        "_total",
    )

    def __init__(
        self,
        target: float,
        tolerance: float = 0.02,
        level: float = 0.01,
        window: int = 1000,
        max_loss: float = 1.0,
        stale_after: float = 900.0,
    ) -> None:
        self._settings = Settings.checked(target, tolerance, level, window, max_loss, stale_after)
        self._total = 0
        self._since_round = 0
        self._since: float | None = None
        self._intervals = Intervals()
        self._recovered: Moment | None = None  # where the evidence was started anew by a recovery
        self._start_anew()

    def _start_anew(self) -> None:
        """Forget all losses."""
        kept = self._settings
        self._all = Tally()
        self._recent = Recent(kept.window)
        self._change = ChangeDetector(kept.boundary, 0.5 * kept.level)
        self._reached = 0  # the last of `rounds` at which there was evidence of a change
        self._broken = False
        self._recovery: Recovery | None = None  # while it is broken

    def update(self, loss: float, at: float | None = None) -> Status | None:
        """Count the loss of one round.

        Parameters
        ----------
        loss
            The loss, in [0, max_loss].
        at
            When it became known, in seconds since the epoch. Without times nothing is ever stale.

        Returns
        -------
        The new status if this round changed it, else None.
        """
        scaled = self._settings.scaled(loss)
        time = None if at is None else _seconds("at", at)
        new = copy.copy(self)
        status = new._count(scaled, time)
        self._become(new)
        return status

    def _count(self, loss: float, time: float | None) -> Status | None:
        """`update`, for numbers that were checked."""
        before = self._status(time)
        if time is not None:
            self._intervals.add(time)
        self._total += 1
        self._play(loss, time)
        after = self._status(None)
        if after == before:
            return None
        self._since_round, self._since = self._total, time
        return after

    def _play(self, loss: float, at: float | None) -> None:
        """Bet on one round, against all rounds and against recent ones."""
        self._all.add(loss)
        self._recent.add(loss)
        kept, rounds = self._settings, self._all.rounds
        if self._change.add(loss, rounds - 1) and self._recent.exceeds(kept.boundary):
            self._reached = rounds
            self._change.cut(self._change.cap)
        elif self._reached and rounds - self._reached >= kept.window:
            self._reached = 0
            self._change.forget_all_but(self._recent, rounds)
        if self._recovery is not None:
            self._play_recovery(self._recovery, loss, at)
        elif log_evidence(self._all, kept.boundary) >= kept.needed:
            self._broken = True
            self._recovery = Recovery(kept.boundary, kept.level)

    def _play_recovery(self, recovery: Recovery, loss: float, at: float | None) -> None:
        """Bet that a broken stream is below the limit again; then its evidence starts anew."""
        found = recovery.add(loss)
        if found and not self._reached and not self._recent.exceeds(self._settings.boundary):
            self._start_anew()
            self._recovered = Moment(self._total, at)

    def status(self, now: float | None = None) -> Status:
        """Return the status alone, in less than a microsecond.

        Parameters
        ----------
        now
            The time in seconds since the epoch. Without it, `stale` is not judged.
        """
        return self._status(None if now is None else _seconds("now", now))

    def _status(self, now: float | None) -> Status:
        """The status at a time; without one, feedback is not overdue."""
        if self._broken:
            return "broken"
        if self._reached:
            return "drifting"
        deadline = self.overdue_at
        if now is not None and deadline is not None and now > deadline:
            return "stale"
        return "ok" if self._recovered is None else "recovered"

    def acknowledge(self, at: float | None = None) -> None:
        """Start the evidence anew: the status is `ok`, and earlier rounds no longer count.

        A stream that was broken recovers by itself; this records that the alarm was seen.

        Parameters
        ----------
        at
            The time in seconds since the epoch, for `Health.since`.
        """
        time = None if at is None else _seconds("at", at)
        new = copy.copy(self)
        new._intervals, new._recovered = Intervals(), None
        new._start_anew()
        new._since_round, new._since = new._total, time
        self._become(new)

    def __copy__(self) -> Self:
        """A separate monitor."""
        new = type(self).__new__(type(self))
        new._become(self)
        new._all, new._recent = self._all.copy(), self._recent.copy()
        new._change, new._intervals = self._change.copy(), self._intervals.copy()
        new._recovery = self._recovery and self._recovery.copy()
        return new

    # No call: an interrupt (Ctrl-C) comes before or after, so that a round counts whole or not.
    def _become(self, other: Self) -> None:
        """Take over everything from another monitor, which is not used again."""
        self._settings, self._total = other._settings, other._total
        self._since_round, self._since = other._since_round, other._since
        self._all, self._recent, self._change = other._all, other._recent, other._change
        self._intervals, self._reached = other._intervals, other._reached
        self._broken, self._recovery = other._broken, other._recovery
        self._recovered = other._recovered

    def health(self, now: float | None = None) -> Health:
        """Return the status, since when, why, and the figures.

        Parameters
        ----------
        now
            The time in seconds since the epoch. Without it, `stale` is not judged.
        """
        time = None if now is None else _seconds("now", now)
        health = self._figures(self._status(time))
        heard, median = self._intervals.last, self._intervals.median
        if health.status == "stale" and time is not None and heard is not None and median:
            why = reasons.stale(time - heard, median)
        else:
            why = reasons.risk(health, self._settings.level, self._total, self._recovered)
        return replace(health, why=why)

    def _figures(self, status: Status) -> Health:
        """The health without its reason."""
        kept, played, recent = self._settings, self._all, self._recent.sums
        needed_of_recent = kept.needed - math.log(start_money(played.rounds - recent.rounds))
        since = self._since_in(status)
        return Health(
            status=status,
            since_round=since.round,
            since=since.at,
            why="",
            rounds=played.rounds,
            risk=_risk(played, kept.max_loss),
            at_least=kept.max_loss * lower_limit(played, kept.needed),
            recent_rounds=recent.rounds,
            recent_risk=_risk(recent, kept.max_loss),
            recent_at_least=kept.max_loss * lower_limit(recent, needed_of_recent),
            target=kept.target,
            tolerance=kept.tolerance,
        )

    def _since_in(self, status: Status) -> Moment:
        """Since when the stream has its status."""
        if status == "stale":
            return Moment(self._total, self.overdue_at)
        if status == "recovered" and self._recovered is not None:
            return self._recovered
        return Moment(self._since_round, self._since)

    @property
    def rounds(self) -> int:
        """Number of losses since the last acknowledgement or recovery."""
        return self._all.rounds

    @property
    def recent_risk(self) -> float | None:
        """Mean of the recent losses, None without one; it costs less than `health`."""
        return _risk(self._recent.sums, self._settings.max_loss)

    @property
    def last_at(self) -> float | None:
        """Time of the latest loss since the last acknowledgement, None without one."""
        return self._intervals.last

    @property
    def overdue_at(self) -> float | None:
        """When the monitor turns stale without another loss, None while that is unknown."""
        last, deadline = self._intervals.last, self._intervals.deadline
        if last is None or deadline is None:
            return None
        return max(deadline, last + self._settings.stale_after)

    def __repr__(self) -> str:
        kept = self._settings
        return f"Monitor(target={kept.target:g}): {self._status(None)}, {self._all.rounds} rounds"

    def to_state(self) -> dict[str, Any]:
        """Return everything as plain numbers and lists, for JSON or msgpack."""
        return {
            "version": stored.VERSION,
            "settings": list(astuple(self._settings)[:-1]),
            "stale_after": self._settings.stale_after,
            "total": self._total,
            "since_round": self._since_round,
            "since": self._since,
            "broken": self._broken,
            "reached": self._reached,
            "all": [self._all.rounds, self._all.losses, list(self._all.won)],
            "recent": [list(block) for block in self._recent.blocks],
            "money": list(self._change.money),
            "intervals": stored.stored_intervals(self._intervals),
            "recovery": stored.stored_recovery(self._recovery),
            "recovered": None if self._recovered is None else list(self._recovered),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return a monitor that continues bit for bit where `to_state` was called.

        Parameters
        ----------
        state
            What `to_state` returned, possibly through JSON or msgpack.
        """
        parts = stored.checked(state)
        try:
            made = cls(*stored.settings(parts))
            made._restore(parts)
        except (TypeError, ValueError) as error:
            raise StateError(f"the state of the monitor is damaged: {error}") from error
        return made

    def _restore(self, parts: Mapping[str, Any]) -> None:
        """Take over what `to_state` wrote."""
        self._total = stored.count("total", parts["total"])
        self._since_round = stored.count("since_round", parts["since_round"], self._total)
        self._since = stored.time("since", parts["since"])
        self._broken = stored.flag("broken", parts["broken"])
        self._all = stored.tally(parts["all"], self._total)
        rounds = self._all.rounds
        self._reached = stored.count("reached", parts["reached"], rounds)
        self._recent = stored.recent(parts["recent"], self._settings.window, rounds)
        self._change.money = stored.money(parts["money"])
        self._intervals = stored.intervals(parts["intervals"])
        kept = self._settings
        self._recovered = stored.moment(parts.get("recovered"), self._total)
        if self._broken:
            self._recovery = stored.recovery(parts.get("recovery"), kept.boundary, kept.level)


def _seconds(name: str, value: float) -> float:
    """Return a time."""
    if type(value) is float and abs(value) <= validation.LARGEST:  # the usual case, fast
        return value
    return validation.finite(name, value, "It is a time in seconds since the epoch.")


def _risk(sums: Tally | Sums, unit: float) -> float | None:
    """The mean loss of some rounds."""
    return unit * sums.losses / sums.rounds if sums.rounds else None
