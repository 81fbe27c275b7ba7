"""The monitor of one stream: losses in, a state out, valid at every look."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any, Self

from localarc import validation
from localarc.monitoring import reasons
from localarc.monitoring import state as stored
from localarc.monitoring.bets import Sums, Tally, log_evidence, lower_limit
from localarc.monitoring.change import MOST, ChangeDetector, start_money
from localarc.monitoring.intervals import Intervals
from localarc.monitoring.recent import Recent
from localarc.monitoring.settings import Settings
from localarc.monitoring.status import State, Status
from localarc.serialization import StateError


class Monitor:
    """Says when the risk of a stream is above `target + tolerance`, however often it is asked.

    The probability that it ever calls a stream `drifting` or `broken` that keeps its promise is at
    most `level`. An update costs a few microseconds and the monitor about two kilobytes, whatever
    the number of rounds. See `docs/monitoring.md` for what is proved.

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

    Examples
    --------
    >>> monitor = Monitor(target=0.1)
    >>> changes = [monitor.update(float(t % 4 == 0)) for t in range(2000)]  # a risk of 0.25
    >>> changes.index("broken")
    108
    >>> status = monitor.status()
    >>> status.state, round(status.at_least, 2)
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
    ) -> None:
        self._settings = Settings.checked(target, tolerance, level, window, max_loss)
        self._total = 0
        self._since_round = 0
        self._since: float | None = None
        self._start_anew()

    def _start_anew(self) -> None:
        """Forget all losses and intervals."""
        kept = self._settings
        self._all = Tally()
        self._recent = Recent(kept.window)
        self._change = ChangeDetector(kept.boundary, 0.5 * kept.level)
        self._intervals = Intervals()
        self._reached = 0  # the last of `rounds` at which there was evidence of a change
        self._broken = False

    def update(self, loss: float, at: float | None = None) -> State | None:
        """Count the loss of one round.

        Parameters
        ----------
        loss
            The loss, in [0, max_loss].
        at
            When it became known, in seconds since the epoch. Without times nothing is ever stale.

        Returns
        -------
        The new state if this round changed it, else None.
        """
        scaled = self._settings.scaled(loss)
        time = None if at is None else _seconds("at", at)
        before = self._state(time)
        if time is not None:
            self._intervals.add(time)
        self._total += 1
        self._play(scaled)
        after = self._state(None)
        if after == before:
            return None
        self._since_round, self._since = self._total, time
        return after

    def _play(self, loss: float) -> None:
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
        if not self._broken:
            self._broken = log_evidence(self._all, kept.boundary) >= kept.needed

    def state(self, now: float | None = None) -> State:
        """Return the state alone, in less than a microsecond.

        Parameters
        ----------
        now
            The time in seconds since the epoch. Without it, `stale` is not judged.
        """
        return self._state(None if now is None else _seconds("now", now))

    def _state(self, now: float | None) -> State:
        """The state at a time; without one, feedback is not overdue."""
        if self._broken:
            return "broken"
        if self._reached:
            return "drifting"
        deadline = self._intervals.deadline
        return "stale" if now is not None and deadline is not None and now > deadline else "ok"

    def acknowledge(self, at: float | None = None) -> None:
        """Start the evidence anew: the state is `ok`, and earlier rounds no longer count.

        Parameters
        ----------
        at
            The time in seconds since the epoch, for `Status.since`.
        """
        time = None if at is None else _seconds("at", at)
        self._start_anew()
        self._since_round, self._since = self._total, time

    def status(self, now: float | None = None) -> Status:
        """Return the state, since when, why, and the figures.

        Parameters
        ----------
        now
            The time in seconds since the epoch. Without it, `stale` is not judged.
        """
        time = None if now is None else _seconds("now", now)
        status = self._figures(self._state(time))
        heard, median = self._intervals.last, self._intervals.median
        if status.state == "stale" and time is not None and heard is not None and median:
            why = reasons.stale(time - heard, median)
        else:
            why = reasons.risk(status, 0.5 * self._settings.level, self._total)
        return replace(status, why=why)

    def _figures(self, state: State) -> Status:
        """A status without its reason."""
        kept, played, recent = self._settings, self._all, self._recent.sums
        needed_of_recent = kept.needed - math.log(start_money(played.rounds - recent.rounds))
        stale = state == "stale"
        return Status(
            state=state,
            since_round=self._total if stale else self._since_round,
            since=self._intervals.deadline if stale else self._since,
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

    @property
    def rounds(self) -> int:
        """Number of losses since the last acknowledgement."""
        return self._all.rounds

    @property
    def recent_risk(self) -> float | None:
        """Mean of the recent losses, None without one; it costs less than `status`."""
        return _risk(self._recent.sums, self._settings.max_loss)

    @property
    def last_at(self) -> float | None:
        """Time of the latest loss since the last acknowledgement, None without one."""
        return self._intervals.last

    @property
    def overdue_at(self) -> float | None:
        """When the monitor turns stale without another loss, None while that is unknown."""
        return self._intervals.deadline

    def __repr__(self) -> str:
        kept = self._settings
        return f"Monitor(target={kept.target:g}): {self._state(None)}, {self._all.rounds} rounds"

    def to_state(self) -> dict[str, Any]:
        """Return everything as plain numbers and lists, for JSON or msgpack."""
        return {
            "version": stored.VERSION,
            "settings": list(astuple(self._settings)),
            "total": self._total,
            "since_round": self._since_round,
            "since": self._since,
            "broken": self._broken,
            "reached": self._reached,
            "all": [self._all.rounds, self._all.losses, list(self._all.won)],
            "recent": [list(block) for block in self._recent.blocks],
            "money": list(self._change.money),
            "intervals": stored.stored_intervals(self._intervals),
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
            made = cls(*stored.settings(parts["settings"]))
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
        self._change.money = stored.money(parts["money"], MOST)
        self._intervals = stored.intervals(parts["intervals"])


def _seconds(name: str, value: float) -> float:
    """Return a time."""
    if type(value) is float and abs(value) <= validation.LARGEST:  # the usual case, fast
        return value
    return validation.finite(name, value, "It is a time in seconds since the epoch.")


def _risk(sums: Tally | Sums, unit: float) -> float | None:
    """The mean loss of some rounds."""
    return unit * sums.losses / sums.rounds if sums.rounds else None
