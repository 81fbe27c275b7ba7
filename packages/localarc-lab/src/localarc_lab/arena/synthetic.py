"""Synthetic streams, each hard in one way, with normal residuals unless they say otherwise."""

from __future__ import annotations

import numpy as np

from localarc.curves import miscoverage
from localarc.streams import Stream
from localarc.validation import FloatArray

_HALVES = ("left", "right")
_QUARTERS = ("first quarter", "second quarter", "third quarter", "fourth quarter")
_SEASONS, _DAY = 8, 24


def walking_bump(n: int) -> Stream:
    """A hard place that walks along the first feature and back."""
    random = np.random.default_rng(1)
    X = random.uniform(size=(n, 2))
    place = 1.0 - np.abs(np.linspace(-1.0, 1.0, n))
    spread = 0.3 * (1.0 + 5.0 * np.exp(-(((X[:, 0] - place) / 0.15) ** 2)))
    groups = _named(_QUARTERS, 4.0 * X[:, 0])
    return _intervals(X, spread * random.normal(size=n), groups, ("x1", "x2"))


def abrupt_swap(n: int) -> Stream:
    """An easy half and a hard half of the inputs, which change places half-way."""
    random = np.random.default_rng(2)
    X = random.uniform(size=(n, 2))
    hard = (X[:, 0] < 0.5) == (np.arange(n) < n / 2)
    errors = np.where(hard, 2.0, 0.4) * random.normal(size=n)
    return _intervals(X, errors, _named(_HALVES, 2.0 * X[:, 0]), ("x1", "x2"))


def seasonal(n: int) -> Stream:
    """Errors that follow the hour of the day, which is a feature, and the season, which is not."""
    random = np.random.default_rng(3)
    t = np.arange(n)
    hour = (t % _DAY).astype(np.float64)
    by_hour = 1.0 + 0.8 * np.sin(2.0 * np.pi * hour / _DAY)
    by_season = 1.0 + 0.6 * np.sin(2.0 * np.pi * _SEASONS * t / n)
    groups = tuple("night" if 0 <= h < 6 else "day" for h in hour)
    X = np.column_stack([hour, random.uniform(size=n)])
    return _intervals(X, by_hour * by_season * random.normal(size=n), groups, ("hour", "noise"))


def heavy_tails(n: int) -> Stream:
    """Lognormal scores whose size follows the input, and whose tail grows half-way."""
    random = np.random.default_rng(4)
    x = random.uniform(size=n)
    width = np.where(np.arange(n) < n / 2, 0.7, 1.2)
    scores = np.exp(width * random.normal(size=n) + 2.0 * np.sin(6.0 * x))
    return _intervals(x[:, None], scores, _named(_QUARTERS, 4.0 * x), ("x",))


def harmless_rounds(n: int) -> Stream:
    """Rounds in which no set can fail, two fifths of the stream; then ordinary ones."""
    random = np.random.default_rng(5)
    X = random.uniform(size=(n, 2))
    cost = (np.arange(n) >= 0.4 * n).astype(np.float64)
    scores = np.abs((0.5 + X[:, 0]) * random.normal(size=n))
    groups = _named(_HALVES, 2.0 * X[:, 0])
    return Stream("", X, miscoverage(scores, cost=cost, widths=0.0), groups, ("x1", "x2"))


def adversary(n: int) -> Stream:
    """Two distant places, one with scores near 1 and one near 0, which swap at every power of two.

    It does not look at thresholds, so that all methods meet the same rounds. What was learned in a
    phase is wrong in the next one, which is as long as all before together.
    """
    random = np.random.default_rng(6)
    t = np.arange(n)
    here = (t // 7) % 2 == 0
    X = np.where(here, -3.0, 3.0)[:, None] + 0.1 * random.normal(size=(n, 2))
    high = here == (np.floor(np.log2(t + 1)).astype(np.int64) % 2 == 0)
    scores = np.where(high, 0.9, 0.0) + 0.1 * random.uniform(size=n)
    groups = tuple("here" if each else "there" for each in here)
    return _intervals(X, scores, groups, ("x1", "x2"))


def _intervals(
    X: FloatArray, errors: FloatArray, groups: tuple[str, ...], features: tuple[str, ...]
) -> Stream:
    return Stream("", X, miscoverage(np.abs(errors), widths=0.0), groups, features)


def _named(names: tuple[str, ...], values: FloatArray) -> tuple[str, ...]:
    """The name of the whole part of each value."""
    return tuple(names[min(int(value), len(names) - 1)] for value in values)
