"""Delays: how many rounds of a risk that is too high it takes until an alarm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.monitoring import streams
from benchmarks.monitoring.others import Binomial, Mapie
from benchmarks.monitoring.watchers import TARGET, Broken, Drifting, Watcher, first_alarms
from localarc.validation import FloatArray

RISE = 0.05
GOOD = (0, 1_000, 10_000)
WINDOW = 1_000
LONGEST = 30_000  # rounds after which a test has not found the rise
_RESAMPLES = 400


@dataclass(frozen=True)
class Delay:
    """Quartiles of the delay of one test after some good rounds; infinity: not found in time."""

    good_rounds: int
    test: str
    lower_quartile: float
    median: float
    error: float
    upper_quartile: float
    of_binomial: float
    early: int


def measure(count: int) -> list[Delay]:
    """The same streams for every test."""
    return [row for good in GOOD for row in _after(good, count)]


def _after(good: int, count: int) -> list[Delay]:
    """All tests after a number of good rounds."""
    watchers: dict[str, Watcher] = {
        "broken": Broken(count),
        "drifting": Drifting(count),
        "binomial": Binomial(count),
        "binomial of the last 1,000": Binomial(count, WINDOW),
        "MAPIE": Mapie(count),
    }
    losses = streams.misses(count, good + LONGEST, 5, TARGET + RISE, good, TARGET)
    first = first_alarms(watchers, losses, count)
    found = {"monitor, any alarm": np.minimum(first["broken"], first["drifting"]), **first}
    yardstick = float(np.median(found["binomial"] - good))
    return [_delay(good, test, each, yardstick) for test, each in found.items()]


def _delay(good: int, test: str, first: FloatArray, yardstick: float) -> Delay:
    """Quartiles, and the standard error of the median by resampling streams."""
    late = first[first > good] - good
    lower, median, upper = np.quantile(late, [0.25, 0.5, 0.75], method="inverted_cdf")
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(late, (_RESAMPLES, len(late))), axis=1)
    error = float(np.std(medians)) if np.isfinite(medians).all() else float("nan")
    early = int((first <= good).sum())
    return Delay(good, test, lower, median, error, upper, median / yardstick, early)
