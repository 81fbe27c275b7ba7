"""Watchers: monitors and other tests, each for many streams at once, looked at every round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from localarc.monitoring.bets import SHARES, SIZES
from localarc.monitoring.change import start_money
from localarc.validation import FloatArray

Flags = NDArray[np.bool_]
TARGET, TOLERANCE, LEVEL, WINDOW = 0.1, 0.02, 0.01, 1000
LIMIT = TARGET + TOLERANCE


class Watcher(Protocol):
    """Sees one loss of each stream per round, and says which streams raise an alarm now."""

    def add(self, losses: FloatArray) -> Flags:
        """Play a round of every stream."""
        ...


class Broken:
    """`Monitor`'s test of all rounds, for many streams."""

    def __init__(self, streams: int, limit: float = LIMIT, level: float = LEVEL) -> None:
        self.limit, self.needed = limit, 2.0 / level
        self.sizes = np.array(SIZES)
        self.rounds = 0
        self.losses = np.zeros(streams)
        self.won = np.tile(np.log(SHARES), (streams, 1))

    def add(self, losses: FloatArray) -> Flags:
        """Play a round; only streams with a mean above the limit can have evidence."""
        self.rounds += 1
        self.losses += losses
        lossy = np.flatnonzero(losses)
        self.won[lossy] += np.log1p(np.multiply.outer(losses[lossy], self.sizes))
        alarm = np.zeros(len(losses), bool)
        above = np.flatnonzero(self.losses > self.rounds * self.limit)
        logs = self.won[above] - self.rounds * np.log1p(self.sizes * self.limit)
        alarm[above] = np.exp(np.minimum(logs, 500.0)).sum(axis=1) >= self.needed
        return alarm


class Drifting:
    """`Monitor`'s test of recent rounds, for many streams, up to its first alarm."""

    def __init__(
        self, streams: int, limit: float = LIMIT, level: float = LEVEL, window: int = WINDOW
    ) -> None:
        self.limit, self.cap = limit, 2.0 / level
        self.idle = 1.0 / (1.0 + np.array(SIZES) * limit)
        self.slope = np.array(SIZES) * self.idle
        self.rounds, self.block = 0, -(-window // 8)
        self.money = np.zeros((streams, len(SIZES)))
        self.recent = np.zeros((window // self.block, streams))  # losses of each block

    def add(self, losses: FloatArray) -> Flags:
        """Add the money that starts now, pay the round, and compare the mean of recent rounds."""
        self.money += start_money(self.rounds) * np.array(SHARES)
        self.money *= self.idle + np.multiply.outer(losses, self.slope)
        place = self.rounds // self.block % len(self.recent)
        if self.rounds % self.block == 0:
            self.recent[place] = 0.0
        self.recent[place] += losses
        self.rounds += 1
        evidence = self.money.sum(axis=1) >= self.cap
        return np.asarray(evidence & (self.recent.sum(axis=0) > self.limit * self.recent_rounds))

    @property
    def recent_rounds(self) -> int:
        """Rounds in the blocks that are held."""
        newest = (self.rounds - 1) % self.block + 1
        return min(self.rounds, (len(self.recent) - 1) * self.block + newest)


def first_alarms(
    watchers: Mapping[str, Watcher], rounds: Iterable[FloatArray], streams: int
) -> dict[str, FloatArray]:
    """The round of each stream's first alarm, counted from 1, by watcher; infinity without one."""
    first = {name: np.full(streams, np.inf) for name in watchers}
    for t, losses in enumerate(rounds, start=1):
        for name, watcher in watchers.items():
            first[name][watcher.add(losses) & np.isinf(first[name])] = t
        if t % 100 == 0 and not any(np.isinf(each).any() for each in first.values()):
            break
    return first
