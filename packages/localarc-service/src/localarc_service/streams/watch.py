"""The watch over a stream: a monitor for all of its losses, and one for those of each group.

A group is watched from its first loss on. A stream has at most `Limits.groups` groups, so that
there are no more monitors than these and one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, Self

import msgspec

from localarc.monitoring import Monitor
from localarc_client.wire.config import StreamConfig
from localarc_client.wire.health import Health, Status
from localarc_service.stored import format as stored
from localarc_service.stored.events import HealthChanged
from localarc_service.stored.format import Announced
from localarc_service.streams.config_defaults import tolerance_of

WHOLE = ""
"""The part that is all rounds; names of groups are not empty."""

SEVERITY: dict[Status, int] = {
    "broken": 0,
    "drifting": 1,
    "stale": 2,
    "recovered": 3,
    "ok": 4,
}
"""The order of statuses, the worst first."""


class Moment(NamedTuple):
    """The time, and when the service started: before that, no loss could arrive."""

    now: float
    started: float


LONG_AGO = Moment(0.0, 0.0)
"""A moment at which nothing is stale."""


class Watch:
    """The monitors of a stream by part, and what was announced of those that are not ok."""

    def __init__(self, config: StreamConfig) -> None:
        self.config = config
        self._monitors = {WHOLE: self._new_monitor()}
        self._unsure: set[str] = set()  # parts whose status may not be the announced one
        self.announced: dict[str, Announced] = {}

    def _new_monitor(self) -> Monitor:
        config = self.config
        return Monitor(
            target=config.alpha,
            tolerance=tolerance_of(config),
            window=config.window,
            max_loss=config.loss_bound,
            stale_after=config.stale_after,
        )

    # ---- changes, which replay repeats -------------------------------------------------------

    def learn(self, loss: float, groups: Iterable[str], at: float) -> None:
        """Show a loss to the monitors of all rounds and of its groups."""
        for part in (WHOLE, *groups):
            monitor = self._monitors.get(part)
            if monitor is None:
                monitor = self._monitors[part] = self._new_monitor()
            if monitor.update(loss, at) is not None or part in self.announced:
                self._unsure.add(part)

    def acknowledge(self, at: float) -> None:
        """Start the evidence of every part anew."""
        for monitor in self._monitors.values():
            monitor.acknowledge(at)
        self._unsure |= self.announced.keys()

    def restart(self) -> None:
        """Forget all losses: they are not those of the calibrator any more."""
        self._monitors = {part: self._new_monitor() for part in self._monitors}
        self._unsure |= self.announced.keys()

    def announce(self, event: HealthChanged, seq: int) -> None:
        """Remember what was announced."""
        part = event.group or WHOLE
        self.announced.pop(part, None)
        if event.state != "ok":
            self.announced[part] = Announced(
                seq, event.at, event.state, event.previous, event.since_round, event.why
            )

    # ---- reading -----------------------------------------------------------------------------

    @property
    def parts(self) -> Collection[str]:
        """All rounds, and the groups that have losses."""
        return self._monitors.keys()

    @property
    def rounds(self) -> int:
        """Number of losses since the last acknowledgement or recovery."""
        return self._monitors[WHOLE].rounds

    @property
    def worst_part(self) -> str:
        """The part with the worst announced status; all rounds where others are not worse."""
        order = {part: (SEVERITY[each.state], part) for part, each in self.announced.items()}
        return min(order, key=order.__getitem__, default=WHOLE)

    @property
    def worst_status(self) -> Status:
        """The worst announced status."""
        return self.announced_status(self.worst_part)

    def announced_status(self, part: str) -> Status:
        """The status of a part, as far as it was announced: looking it up costs nothing."""
        found = self.announced.get(part)
        return "ok" if found is None else found.state

    def last_at(self, part: str) -> float | None:
        """When the latest loss of a part arrived."""
        return self._monitors[part].last_at

    def recent_risk(self, part: str) -> float | None:
        """The mean of the latest losses of a part; it costs much less than its `health`."""
        return self._monitors[part].recent_risk

    def health(self, part: str, moment: Moment) -> Health:
        """The health of a part."""
        monitor, config = self._monitors[part], self.config
        known = monitor.health(self._time(part, monitor, moment))
        return Health(
            status=known.status,
            since=known.since,
            since_round=known.since_round,
            why=known.why,
            rounds=known.rounds,
            risk=known.risk,
            recent_risk=known.recent_risk,
            at_least=known.at_least if known.rounds else None,
            target=config.alpha,
            tolerance=tolerance_of(config),
            window=config.window,
            group=part or None,
        )

    def _time(self, part: str, monitor: Monitor, moment: Moment) -> float | None:
        """The time to judge by; None while a restart excuses that nothing arrived."""
        last, overdue = monitor.last_at, monitor.overdue_at
        if last is None or overdue is None or self.announced_status(part) == "stale":
            return moment.now
        return moment.now if moment.now > moment.started + (overdue - last) else None

    def unannounced(
        self, moment: Moment, parts: Iterable[str] | None = None
    ) -> list[HealthChanged]:
        """Changes of status to announce, in the given parts; by default where one is likely."""
        found = sorted(self._unsure) if parts is None else list(parts)
        self._unsure.difference_update(found)
        return [self._change(part, moment) for part in found if self._has_changed(part, moment)]

    def _has_changed(self, part: str, moment: Moment) -> bool:
        monitor = self._monitors[part]
        return monitor.status(self._time(part, monitor, moment)) != self.announced_status(part)

    def _change(self, part: str, moment: Moment) -> HealthChanged:
        health = self.health(part, moment)
        return HealthChanged(
            at=moment.now,
            state=health.status,
            previous=self.announced_status(part),
            since_round=health.since_round,
            why=health.why,
            group=health.group,
        )

    # ---- storage -----------------------------------------------------------------------------

    def encode(self) -> bytes:
        """The watch as it is stored."""
        monitors = {part: monitor.to_state() for part, monitor in self._monitors.items()}
        return msgspec.msgpack.encode(stored.Watch(monitors, self.announced))

    @classmethod
    def decode(cls, config: StreamConfig, data: bytes) -> Self:
        """The watch that was stored."""
        watch, found = cls(config), msgspec.msgpack.decode(data, type=stored.Watch)
        watch._monitors |= {name: Monitor.from_state(one) for name, one in found.monitors.items()}
        watch.announced = found.announced
        return watch
