"""Curves: loss and set size of every round against the threshold, in flat arrays."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.curves.layout import check_layout, check_steps, checked_arrays
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Curves:
    """Loss and set size of n rounds as step functions of the threshold.

    The loss functions of `localarc.curves` build these; the constructor is for losses of your own.
    Round t owns the entries from `offsets[t]` up to, but not including, `offsets[t + 1]`. At a
    threshold of at least `breakpoints[j]`, and below the next breakpoint of the round, the loss is
    `losses[j]` and the size is `sizes[j]`. The set {score <= threshold} gains a member exactly when
    the threshold reaches its score, so a step includes its breakpoint.

    Parameters
    ----------
    breakpoints : array of float, shape (m,)
        Thresholds at which a round's loss or size changes, ascending within a round. The first one
        of every round is minus infinity: the empty set.
    losses : array of float, shape (m,)
        Losses, between 0 and `bound`, not increasing within a round.
    sizes : array of float, shape (m,), or None
        Set sizes, not decreasing within a round. None if unknown, or given by `widths`.
    offsets : array of int, shape (n + 1,)
        Where each round starts; the last one is m.
    bound : float, default 1.0
        Largest possible loss.
    widths : array of float, shape (n,), optional
        For intervals: their width at threshold 0. The size is then
        `max(0, widths[t] + 2 * threshold)`, in the units of the score.
    grid_error : float, default 0.0
        Largest amount by which evaluating the loss on a grid can have overstated it.

    Examples
    --------
    >>> from localarc.curves import miscoverage
    >>> curves = miscoverage([0.3, 0.1], widths=0.0)
    >>> curves
    Curves(2 rounds, 4 steps, bound=1)
    >>> curves.losses_at([0.2, 0.2]), curves.sizes_at([0.2, 0.2])
    (array([1., 0.]), array([0.4, 0.4]))
    """

    breakpoints: FloatArray
    losses: FloatArray
    sizes: FloatArray | None
    offsets: IntArray
    bound: float = 1.0
    widths: FloatArray | None = None
    grid_error: float = 0.0

    def __post_init__(self) -> None:
        for name, value in checked_arrays(self).items():
            object.__setattr__(self, name, value)
        check_layout(self)
        check_steps(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, t: int) -> Curve:
        index = operator.index(t)
        if not -len(self) <= index < len(self):
            raise _no_such_round(t, len(self))
        return Curve(self, index % len(self))

    def __repr__(self) -> str:
        return f"Curves({len(self)} rounds, {len(self.losses)} steps, bound={self.bound:g})"

    def loss_at(self, t: int, threshold: float) -> float:
        """Return the loss of one round at a threshold.

        Parameters
        ----------
        t : int
            Index of the round, counted from 0.
        threshold : float
            Threshold, in the units of the score.

        Returns
        -------
        float
            The loss, between 0 and `bound`.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3]).loss_at(0, threshold=0.2)
        1.0
        """
        return float(self.losses[self._entry(t, threshold)])

    def size_at(self, t: int, threshold: float) -> float:
        """Return the set size of one round at a threshold.

        Parameters
        ----------
        t : int
            Index of the round, counted from 0.
        threshold : float
            Threshold, in the units of the score.

        Returns
        -------
        float
            The size; NaN if sizes are unknown.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3], widths=0.0).size_at(0, threshold=0.5)
        1.0
        """
        entry = self._entry(t, threshold)  # raises for a threshold that is not a number
        if self.widths is not None:
            return max(0.0, float(self.widths[t]) + 2.0 * float(threshold))
        return float(self.sizes[entry]) if self.sizes is not None else np.nan

    def _entry(self, t: int, threshold: float) -> int:
        at = threshold if isinstance(threshold, float) else _number("threshold", threshold)
        if at != at:
            raise ValueError(f"threshold must be a number, got NaN in round {t} (counted from 0).")
        if not 0 <= t < len(self):
            raise _no_such_round(t, len(self))
        start, stop = self.offsets[t], self.offsets[t + 1]
        steps = np.searchsorted(self.breakpoints[start:stop], at, side="right")
        return int(start) + int(steps) - 1

    def losses_at(self, thresholds: ArrayLike) -> FloatArray:
        """Return the loss of every round, each at its own threshold.

        Parameters
        ----------
        thresholds : array_like of float, shape (n,) or ()
            One threshold per round, or one for all rounds.

        Returns
        -------
        array of float, shape (n,)
            The losses.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3, 0.1]).losses_at(0.2)
        array([1., 0.])
        """
        return self.losses[self._entries(thresholds)]

    def sizes_at(self, thresholds: ArrayLike) -> FloatArray:
        """Return the set size of every round, each at its own threshold.

        Parameters
        ----------
        thresholds : array_like of float, shape (n,) or ()
            One threshold per round, or one for all rounds.

        Returns
        -------
        array of float, shape (n,)
            The sizes; NaN if they are unknown.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3, 0.1], widths=[0.0, 1.0]).sizes_at(0.2)
        array([0.4, 1.4])
        """
        at = _levels(thresholds)
        if self.widths is not None:
            return np.maximum(0.0, self.widths + 2.0 * at)
        return np.full(len(self), np.nan) if self.sizes is None else self.sizes[self._entries(at)]

    def _entries(self, thresholds: ArrayLike) -> IntArray:
        at = np.broadcast_to(_levels(thresholds), (len(self),))
        if len(self) == 0:
            return np.zeros(0, dtype=np.int64)
        reached = self.breakpoints <= np.repeat(at, np.diff(self.offsets))
        return self.offsets[:-1] + np.add.reduceat(reached, self.offsets[:-1], dtype=np.int64) - 1

    def min_thresholds(self, loss: float = 0.0) -> FloatArray:
        """Return the smallest threshold of each round whose loss is at most `loss`.

        Parameters
        ----------
        loss : float, default 0.0
            Acceptable loss.

        Returns
        -------
        array of float, shape (n,)
            Thresholds: minus infinity where the empty set will do, infinity where none does.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3, 0.1]).min_thresholds()
        array([0.3, 0.1])
        """
        most = validation.finite("loss", loss, "It is the largest loss to accept, e.g. 0.0.")
        too_much = np.concatenate(([0], np.cumsum(self.losses > most)))
        first = self.offsets[:-1] + np.diff(too_much[self.offsets])  # losses do not increase
        found = np.full(len(self), np.inf)
        some = first < self.offsets[1:]
        found[some] = self.breakpoints[first[some]]
        return found

    def take(self, rounds: slice | ArrayLike) -> Curves:
        """Return the curves of some of the rounds.

        Parameters
        ----------
        rounds : slice, array_like of int or array_like of bool
            Which rounds, as in NumPy indexing. A slice with step 1 copies nothing.

        Returns
        -------
        Curves
            The curves of those rounds, in the order given.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3, 0.1, 0.2]).take([2, 0]).losses_at(0.25)
        array([0., 1.])
        """
        if isinstance(rounds, slice) and rounds.step in (None, 1):
            return self._contiguous(*rounds.indices(len(self))[:2])
        validation.require_unmasked("rounds", rounds)
        index = rounds if isinstance(rounds, slice) else np.asarray(rounds)
        if isinstance(index, np.ndarray) and not index.size:
            index = index.astype(np.int64)  # NumPy reads an empty list as floats
        chosen = np.arange(len(self))[index]
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        entries = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return self._part(entries, offsets, chosen)

    def _contiguous(self, start: int, stop: int) -> Curves:
        """Return consecutive rounds as views."""
        stop = max(start, stop)
        offsets = self.offsets[start : stop + 1]
        entries = slice(offsets[0], offsets[-1])
        return self._part(entries, offsets - offsets[0], slice(start, stop))

    def _part(self, entries: slice | IntArray, offsets: IntArray, rounds: Any) -> Curves:
        return Curves.unchecked(
            self.breakpoints[entries],
            self.losses[entries],
            None if self.sizes is None else self.sizes[entries],
            offsets,
            self.bound,
            None if self.widths is None else self.widths[rounds],
            self.grid_error,
        )

    @classmethod
    def unchecked(
        cls,
        breakpoints: FloatArray,
        losses: FloatArray,
        sizes: FloatArray | None,
        offsets: IntArray,
        bound: float,
        widths: FloatArray | None = None,
        grid_error: float = 0.0,
    ) -> Curves:
        """Return curves of arrays that are known to be valid; the constructor checks them.

        Examples
        --------
        >>> steps, losses = np.array([-np.inf, 0.3]), np.array([1.0, 0.0])
        >>> Curves.unchecked(steps, losses, None, np.array([0, 2]), bound=1.0).losses_at(0.2)
        array([1.])
        """
        made = object.__new__(cls)
        made.__dict__.update(
            breakpoints=breakpoints,
            losses=losses,
            sizes=sizes,
            offsets=offsets,
            bound=bound,
            widths=widths,
            grid_error=grid_error,
        )
        return made

    @property
    def score_range(self) -> tuple[float, float]:
        """The smallest and the largest finite breakpoint; (0, 0) if there is none."""
        steps = self.breakpoints[np.isfinite(self.breakpoints)]
        return (float(steps.min()), float(steps.max())) if len(steps) else (0.0, 0.0)

    def full_set_fails(self, alpha: float) -> IntArray:
        """Return the rounds that violate assumption (A2): even the full set loses more than alpha.

        Parameters
        ----------
        alpha : float
            Target risk.

        Returns
        -------
        array of int
            Indices of the rounds, counted from 0.

        Examples
        --------
        >>> from localarc.curves import from_table
        >>> from_table([[0.5], [0.0]], grid=[0.0]).full_set_fails(0.1)
        array([0])
        """
        return np.flatnonzero(self.losses[self.offsets[1:] - 1] > alpha)

    def empty_set_passes(self, alpha: float) -> IntArray:
        """Return the rounds that violate assumption (A3): the empty set loses less than alpha.

        Parameters
        ----------
        alpha : float
            Target risk.

        Returns
        -------
        array of int
            Indices of the rounds, counted from 0.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3, 0.1], cost=[1.0, 0.0]).empty_set_passes(0.1)
        array([1])
        """
        return np.flatnonzero(self.losses[self.offsets[:-1]] < alpha)


@dataclass(frozen=True, eq=False)
class Curve:
    """Loss and set size of one round against the threshold: `curves[t]`.

    Parameters
    ----------
    curves : Curves
        The curves of the stream.
    t : int
        Index of the round, counted from 0.

    Examples
    --------
    >>> from localarc.curves import miscoverage
    >>> curve = miscoverage([0.3])[0]
    >>> curve.loss(0.2), curve.loss(0.3)
    (1.0, 0.0)
    """

    curves: Curves
    t: int

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The smallest and the largest finite breakpoint; None if there is none."""
        start, stop = self.curves.offsets[self.t], self.curves.offsets[self.t + 1]
        steps = self.curves.breakpoints[start:stop]
        steps = steps[np.isfinite(steps)]
        return (float(steps.min()), float(steps.max())) if len(steps) else None

    def loss(self, threshold: float) -> float:
        """Return the loss of the set at a threshold.

        Parameters
        ----------
        threshold : float
            Threshold, in the units of the score.

        Returns
        -------
        float
            The loss.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3])[0].loss(0.3)
        0.0
        """
        return self.curves.loss_at(self.t, threshold)

    def size(self, threshold: float) -> float:
        """Return the size of the set at a threshold.

        Parameters
        ----------
        threshold : float
            Threshold, in the units of the score.

        Returns
        -------
        float
            The size; NaN if it is unknown.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3], widths=0.0)[0].size(0.3)
        0.6
        """
        return self.curves.size_at(self.t, threshold)

    def min_threshold(self, loss: float = 0.0) -> float:
        """Return the smallest threshold whose loss is at most `loss`.

        Parameters
        ----------
        loss : float, default 0.0
            Acceptable loss.

        Returns
        -------
        float
            The threshold; infinity if no threshold reaches that loss. For miscoverage and the
            default, it is the score of the true outcome.

        Examples
        --------
        >>> from localarc.curves import miscoverage
        >>> miscoverage([0.3])[0].min_threshold()
        0.3
        """
        most = validation.finite("loss", loss, "It is the largest loss to accept, e.g. 0.0.")
        start, stop = self.curves.offsets[self.t], self.curves.offsets[self.t + 1]
        enough = np.flatnonzero(self.curves.losses[start:stop] <= most)
        return float(self.curves.breakpoints[start + enough[0]]) if len(enough) else np.inf


def _number(name: str, value: object) -> float:
    """Return a number that may be infinite."""
    return validation.real(name, value, "It is in the units of the score, e.g. 0.5.")


def _levels(thresholds: ArrayLike) -> FloatArray:
    """Thresholds as numbers, which may be infinite: the full set, and the empty one."""
    at = validation.floats("thresholds", thresholds)
    validation.numbers("thresholds", np.where(np.isinf(at), 0.0, at))
    return at


def _no_such_round(t: int, count: int) -> IndexError:
    """Return the error of an index out of range."""
    return IndexError(f"round {t} does not exist: there are {count}, counted from 0.")
