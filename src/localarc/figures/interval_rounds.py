"""What the figure of intervals over time shows: outcomes, intervals, and which cover which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import measures, validation
from localarc.figures.time_axis import time_axis
from localarc.sets import Intervals
from localarc.validation import FloatArray

Ends: TypeAlias = Intervals | tuple[ArrayLike, ArrayLike]
"""The lower and the upper end of each round's interval."""

MOST_METHODS = 4


@dataclass(frozen=True, eq=False)
class Rounds:
    """Outcomes in chronological order, the target, and what is shown of them."""

    outcomes: FloatArray
    times: NDArray[Any]
    coverage: float
    window: int
    shown: slice
    unit: str

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which outcomes are not pending."""
        return ~np.isnan(self.outcomes)


@dataclass(frozen=True, eq=False)
class Run:
    """The intervals of one method, and which outcomes they cover."""

    name: str
    lower: FloatArray
    upper: FloatArray
    covered: NDArray[np.bool_]

    @property
    def width(self) -> float:
        """Mean width; infinite if one interval is."""
        return float(np.maximum(0.0, self.upper - self.lower).mean())

    def share(self, rounds: Rounds) -> float:
        """The share of known outcomes that are covered."""
        return float(self.covered[rounds.known].mean())

    def rolling(self, rounds: Rounds) -> FloatArray:
        """The share covered of the latest known outcomes, at each of them."""
        missed = np.where(self.covered[rounds.known], 0.0, 1.0)
        return 1.0 - measures.rolling_risk(missed, rounds.window)


def read_rounds(
    y: Any, time: Any, coverage: float, window: int | None, last: int, unit: str
) -> Rounds:
    """Check the rounds of a figure; a window of None is a tenth of them, from 20 to 500."""
    outcomes = _vector("y", y)
    known = int((~np.isnan(outcomes)).sum())
    if known == 0:
        raise ValueError("y must have at least one outcome that is not NaN.")
    goal = validation.positive("coverage", coverage, "It is a fraction, e.g. 0.9.")
    if goal >= 1.0:
        raise ValueError(f"coverage must lie between 0 and 1, got {goal}. Use 0.9 for 90 %.")
    tenth = min(known, max(20, min(500, known // 10)))
    hint = f"It counts known outcomes, of which there are {known}."
    width = validation.integer("window", tenth if window is None else window, 1, hint, known)
    start = len(outcomes) - validation.integer("last", last, 1, "It counts rounds.")
    times = time_axis(time, len(outcomes))
    return Rounds(outcomes, times, goal, width, slice(max(0, start), None), unit)


def read_runs(intervals: Ends | Mapping[str, Ends], rounds: Rounds) -> list[Run]:
    """Check the intervals of every method."""
    named = intervals if isinstance(intervals, Mapping) else {"intervals": intervals}
    if not 1 <= len(named) <= MOST_METHODS:
        raise ValueError(
            f"intervals must be those of one to {MOST_METHODS} methods, got {len(named)}. "
            "Draw the others in another figure."
        )
    return [_run(str(name), ends, rounds.outcomes) for name, ends in named.items()]


def _run(name: str, ends: Ends, outcomes: FloatArray) -> Run:
    try:
        lower, upper = ends
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the intervals of {name} must be Intervals or a pair (lower, upper), got "
            f"{validation.shown(ends)}."
        ) from error
    low, high = (
        _vector(f"the lower ends of {name}", lower),
        _vector(f"the upper ends of {name}", upper),
    )
    if not len(low) == len(high) == len(outcomes):
        raise ValueError(
            f"the intervals of {name} must have one entry per outcome, got {len(low)} lower and "
            f"{len(high)} upper ends for {len(outcomes)} outcomes."
        )
    if np.isnan(low).any() or np.isnan(high).any():
        raise ValueError(f"the ends of {name} must not be NaN. Use infinity for an open end.")
    return Run(name, low, high, (low <= outcomes) & (outcomes <= high))


def _vector(name: str, values: Any) -> FloatArray:
    found = validation.floats(name, values)
    if found.ndim != 1:
        raise ValueError(f"{name} must be one number per round, got shape {found.shape}.")
    return found
