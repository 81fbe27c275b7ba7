"""Curves: what each threshold would have cost, packed for a whole stream in flat arrays."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """Loss and set size of n rounds as step functions of the threshold.

    Round t owns the entries `offsets[t]` to `offsets[t + 1]`. Entry j says: from `breakpoints[j]`
    on, the loss is `losses[j]` and the set has size `sizes[j]`. The first breakpoint of a round is
    minus infinity, the empty set. A set {score <= threshold} gains a member exactly when the
    threshold reaches its score, so each step holds from its breakpoint on, that point included.

    Intervals have no steps in size: their width is `max(0, widths[t] + 2 * threshold)`, and then
    `sizes` is None. `grid_error` is the most by which a grid can have overstated a loss.
    """

    breakpoints: FloatArray
    losses: FloatArray
    sizes: FloatArray | None
    offsets: IntArray
    bound: float = 1.0
    widths: FloatArray | None = None
    grid_error: float = 0.0

    def __post_init__(self) -> None:
        _check_layout(self)
        _check_steps(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, t: int) -> Curve:
        index = operator.index(t)
        if not -len(self) <= index < len(self):
            raise IndexError(f"round {t} does not exist: there are {len(self)}, counted from 0.")
        return Curve(self, index % len(self))

    def __repr__(self) -> str:
        return f"Curves({len(self)} rounds, {len(self.losses)} steps, bound={self.bound:g})"

    def loss_at(self, t: int, threshold: float) -> float:
        """The loss of round t at a threshold."""
        return float(self.losses[self._entry(t, threshold)])

    def size_at(self, t: int, threshold: float) -> float:
        """The size of round t's set at a threshold; NaN when sizes are not known."""
        if self.widths is not None:
            return max(0.0, float(self.widths[t]) + 2.0 * threshold)
        return float(self.sizes[self._entry(t, threshold)]) if self.sizes is not None else np.nan

    def _entry(self, t: int, threshold: float) -> int:
        if threshold != threshold:
            raise ValueError(f"a threshold must be a number, got NaN in round {t} (from 0).")
        if not 0 <= t < len(self):
            raise IndexError(f"round {t} does not exist: there are {len(self)}, counted from 0.")
        start, stop = self.offsets[t], self.offsets[t + 1]
        steps = np.searchsorted(self.breakpoints[start:stop], threshold, side="right")
        return int(start) + int(steps) - 1

    def losses_at(self, thresholds: ArrayLike) -> FloatArray:
        """The loss of every round, each at its own threshold."""
        return self.losses[self._entries(thresholds)]

    def sizes_at(self, thresholds: ArrayLike) -> FloatArray:
        """The set size of every round, each at its own threshold; NaN when sizes are not known."""
        at = validation.numbers("thresholds", thresholds)
        if self.widths is not None:
            return np.maximum(0.0, self.widths + 2.0 * at)
        return np.full(len(self), np.nan) if self.sizes is None else self.sizes[self._entries(at)]

    def _entries(self, thresholds: ArrayLike) -> IntArray:
        at = np.broadcast_to(validation.numbers("thresholds", thresholds), (len(self),))
        if len(self) == 0:
            return np.zeros(0, dtype=np.int64)
        reached = self.breakpoints <= np.repeat(at, np.diff(self.offsets))
        return self.offsets[:-1] + np.add.reduceat(reached, self.offsets[:-1], dtype=np.int64) - 1

    def take(self, rounds: Any) -> Curves:
        """The curves of some rounds only, by index, slice or mask."""
        if isinstance(rounds, slice) and rounds.step in (None, 1):
            return self._run(*rounds.indices(len(self))[:2])
        chosen = np.arange(len(self))[rounds]
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        entries = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Curves(
            self.breakpoints[entries],
            self.losses[entries],
            None if self.sizes is None else self.sizes[entries],
            offsets,
            self.bound,
            None if self.widths is None else self.widths[chosen],
            self.grid_error,
        )

    def _run(self, start: int, stop: int) -> Curves:
        """Rounds that follow each other: views, which need not be checked a second time."""
        stop = max(start, stop)
        offsets = self.offsets[start : stop + 1]
        entries = slice(offsets[0], offsets[-1])
        part = object.__new__(Curves)
        for name, value in {
            "breakpoints": self.breakpoints[entries],
            "losses": self.losses[entries],
            "sizes": None if self.sizes is None else self.sizes[entries],
            "offsets": offsets - offsets[0],
            "bound": self.bound,
            "widths": None if self.widths is None else self.widths[start:stop],
            "grid_error": self.grid_error,
        }.items():
            object.__setattr__(part, name, value)
        return part

    @property
    def score_range(self) -> tuple[float, float]:
        """The smallest and the largest breakpoint."""
        steps = self.breakpoints[np.isfinite(self.breakpoints)]
        return (float(steps.min()), float(steps.max())) if len(steps) else (0.0, 0.0)

    def full_set_fails(self, alpha: float) -> IntArray:
        """Rounds that break (A2): even the full set costs more than alpha."""
        return np.flatnonzero(self.losses[self.offsets[1:] - 1] > alpha)

    def empty_set_passes(self, alpha: float) -> IntArray:
        """Rounds that break (A3): the empty set costs less than alpha."""
        return np.flatnonzero(self.losses[self.offsets[:-1]] < alpha)


@dataclass(frozen=True, eq=False)
class Curve:
    """The curve of one round.

    >>> from localarc.curves import miscoverage
    >>> round = miscoverage([0.3])[0]
    >>> round.loss(0.2), round.loss(0.3)
    (1.0, 0.0)
    """

    curves: Curves
    t: int

    def loss(self, threshold: float) -> float:
        """What the set at this threshold costs."""
        return self.curves.loss_at(self.t, threshold)

    def size(self, threshold: float) -> float:
        """How large the set at this threshold is."""
        return self.curves.size_at(self.t, threshold)

    def least_threshold(self, loss: float = 0.0) -> float:
        """The smallest threshold that costs no more than `loss`; infinity if none does.

        For miscoverage that is the score of the truth.
        """
        start, stop = self.curves.offsets[self.t], self.curves.offsets[self.t + 1]
        enough = np.flatnonzero(self.curves.losses[start:stop] <= loss)
        return float(self.curves.breakpoints[start + enough[0]]) if len(enough) else np.inf


def _check_layout(curves: Curves) -> None:
    offsets, n = curves.offsets, len(curves.breakpoints)
    fits = len(offsets) >= 1 and offsets[0] == 0 and offsets[-1] == n == len(curves.losses)
    if not fits or (np.diff(offsets) < 1).any():
        raise ValueError(
            f"offsets must rise from 0 to the number of entries, {n}, by at least 1 a round. "
            "Make curves with the functions of localarc.curves."
        )
    if curves.sizes is not None and len(curves.sizes) != n:
        raise ValueError(f"sizes must hold one number per entry, got {len(curves.sizes)} for {n}.")
    if curves.widths is not None and len(curves.widths) != len(offsets) - 1:
        raise ValueError("widths must hold one number per round.")


def _check_steps(curves: Curves) -> None:
    """Monotone, bounded and finite, or the index of the first round that is not."""
    breaks, losses, starts = curves.breakpoints, curves.losses, curves.offsets[:-1]
    inside = np.ones(len(breaks), dtype=bool)  # entries that follow another one of their round
    inside[starts] = False
    _refuse(curves, ~inside & (breaks != -np.inf), "must start at minus infinity")
    _refuse(curves, inside & ~np.isfinite(breaks), "has a score that is not finite")
    _refuse(curves, ~((losses >= 0) & (losses <= curves.bound)), f"leaves [0, {curves.bound}]")
    _refuse(curves, inside & _falls(breaks), "has breakpoints that do not ascend")
    _refuse(curves, inside & _falls(-losses), "has a loss that rises with the threshold")
    if curves.sizes is not None:
        _refuse(curves, inside & _falls(curves.sizes), "has a size that falls with the threshold")


def _falls(values: FloatArray) -> Any:
    with np.errstate(invalid="ignore"):
        return np.diff(values, prepend=values[:1]) < 0


def _refuse(curves: Curves, wrong: Any, what: str) -> None:
    if not wrong.any():
        return
    entry = int(np.argmax(wrong))
    t = int(np.searchsorted(curves.offsets, entry, side="right")) - 1
    raise ValueError(
        f"the curve of round {t} (index, from 0) {what}: breakpoint {curves.breakpoints[entry]}, "
        f"loss {curves.losses[entry]}. Losses lie in [0, bound] and fall as the set grows; pass "
        "bound= where they can be larger."
    )
