"""Keyed streams in one process: a panel compared with a loop over calibrators."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from localarc import ARC, LARC, RBF, AutoLARC, KeepLast, Panel
from localarc.curves import Curves, miscoverage
from localarc.many.panel.streams import Prototype
from localarc.validation import FloatArray

ALPHA = 0.1
LOCAL = LARC(ALPHA, RBF.from_paper(1.0), memory=KeepLast(50, archive=False))


@dataclass(frozen=True)
class Measured:
    """One way to calibrate that many keys: CPU microseconds per event once every key is known."""

    way: str
    keys: int
    microseconds: float
    bytes_per_key: float | None = None
    note: str = ""

    @property
    def per_second(self) -> float:
        """Events per second on one core."""
        return 1e6 / self.microseconds


@dataclass(frozen=True)
class Events:
    """One batch: every key equally often, in random order."""

    keys: list[str]
    X: FloatArray
    scores: FloatArray
    curves: Curves


def events(keys: int, number: int, seed: int) -> Events:
    random = np.random.default_rng(seed)
    rounds = max(number // keys, 1)
    order = np.concatenate([random.permutation(keys) for _ in range(rounds)])
    scores = np.abs(random.normal(size=len(order)))
    names = [f"customer-{i:07d}" for i in order.tolist()]
    return Events(names, random.normal(size=(len(order), 2)), scores, miscoverage(scores))


def in_process(sizes: tuple[int, ...], number: int = 100_000) -> Iterator[Measured]:
    """ARC at every number of keys; the others as long as the loop's objects fit in memory."""
    for keys in sizes:
        yield from _both("ARC", ARC(ALPHA), keys, number)
    for keys in (size for size in sizes if size <= 10_000):
        yield from _both("L-ARC, latest 50", LOCAL, keys, min(number, 20 * keys))
    yield from _both("AutoLARC", AutoLARC(ALPHA), min(sizes), 20 * min(sizes))


def _both(name: str, prototype: Prototype, keys: int, number: int) -> Iterator[Measured]:
    panel, calibrators = Panel(prototype), dict[str, Any]()
    warm, warmed = events(10, 10, 0), Panel(prototype)
    warmed.replay(warm.keys, warm.X, warm.curves)
    Panel.from_state(warmed.state())
    looped: list[float] = []
    played: list[float] = []
    for seed in range(4):  # the first batch creates the keys
        batch = events(keys, number, seed)
        looped.append(_timed(_loop, panel.prototype, calibrators, batch))
        played.append(_timed(_play, panel, batch))
    some = next(iter(calibrators))
    assert panel.calibrator(some).state() == calibrators[some].state()
    count = len(batch.keys)
    data = panel.state()
    stored = _timed(panel.state) + _timed(Panel.from_state, data)
    note = f"state written and read in {stored / keys * 1e6:.2f} us per key"
    yield Measured(f"loop over calibrators, {name}", keys, min(looped[1:]) / count * 1e6)
    yield Measured(f"panel, {name}", keys, min(played[1:]) / count * 1e6, len(data) / keys, note)


def _loop(prototype: Prototype, calibrators: dict[str, Any], batch: Events) -> None:
    learns_from_scores = "score" in prototype.learns_from
    for key, x, score in zip(batch.keys, batch.X, batch.scores.tolist(), strict=True):
        one = calibrators.get(key)
        if one is None:
            one = calibrators[key] = copy.copy(prototype).reset()
        scores = (score,) if learns_from_scores else ()
        one.update(x, float(score > one.threshold(x)), *scores)


def _play(panel: Panel, batch: Events) -> None:
    panel.replay(batch.keys, batch.X, batch.curves)


def _timed(call: Callable[..., Any], *arguments: Any) -> float:
    """CPU seconds, which other processes disturb less than wall time."""
    start = time.process_time()
    call(*arguments)
    return time.process_time() - start
