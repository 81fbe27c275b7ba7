"""Losses: functions that turn the scores and outcomes of a stream into curves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.curves.curves import Curves
from localarc.validation import FloatArray


def miscoverage(
    scores: ArrayLike,
    *,
    cost: ArrayLike | None = None,
    widths: ArrayLike | None = None,
    label_scores: ArrayLike | None = None,
    bound: float = 1.0,
) -> Curves:
    """Return curves of the miscoverage loss: 1 if the set misses the true outcome, else 0.

    Parameters
    ----------
    scores : array_like of float, shape (n,)
        Score of the true outcome of each round.
    cost : array_like of float, shape (n,), optional
        Loss of a miss in each round, between 0 and `bound`. Default: 1.
    widths : float or array_like of float, shape (n,), optional
        For intervals: the width at threshold 0, in the units of the score. It is 0 for
        `prediction +- threshold`, and upper - lower for predicted quantiles. Sizes are unknown
        without `widths` or `label_scores`.
    label_scores : array_like of float, shape (n, K), optional
        For label sets: the scores of all labels. Sizes then count labels.
    bound : float, default 1.0
        Largest possible loss.

    Returns
    -------
    Curves
        One curve per round.

    Examples
    --------
    >>> miscoverage([0.3, 0.1]).losses_at([0.2, 0.2])
    array([1., 0.])
    """
    s = _vector("scores", scores)
    costs = np.ones(len(s)) if cost is None else _vector("cost", cost, len(s))
    if widths is not None and label_scores is not None:
        raise ValueError("pass widths for intervals or label_scores for label sets, not both.")
    if label_scores is not None:
        return _label_curves(s, costs, label_scores, bound)
    breakpoints = np.column_stack([np.full(len(s), -np.inf), s])
    losses = np.column_stack([costs, np.zeros(len(s))])
    width = None
    if widths is not None:
        given = validation.numbers("widths", widths)
        width = (
            np.full(len(s), float(given)) if given.ndim == 0 else _vector("widths", given, len(s))
        )
    return _rectangular(breakpoints, losses, None, bound, width)


def _label_curves(
    s: FloatArray, costs: FloatArray, label_scores: ArrayLike, bound: float
) -> Curves:
    """Return miscoverage curves whose sizes count labels."""
    table = np.sort(_table("label_scores", label_scores, len(s)), axis=1)
    absent = ~(table == s[:, None]).any(axis=1)
    if absent.any():
        raise ValueError(
            f"the score of round {int(np.argmax(absent))} is not among its label_scores. "
            "Take scores from the same array: label_scores[arange(n), y]."
        )
    breakpoints = np.column_stack([np.full(len(s), -np.inf), table])
    losses = np.where(breakpoints < s[:, None], costs[:, None], 0.0)
    sizes = np.broadcast_to(np.arange(breakpoints.shape[1], dtype=np.float64), breakpoints.shape)
    return _rectangular(breakpoints, losses, sizes, bound)


def relative_regret(scores: ArrayLike, gains: ArrayLike) -> Curves:
    """Return curves of the relative regret: `1 - (best gain in the set) / (best gain of all)`.

    The loss of the paper's beam selection experiment. An empty set has loss 1; sizes count options.

    Parameters
    ----------
    scores : array_like of float, shape (n, K)
        Score of each option in each round; options with low scores enter the set first.
    gains : array_like of float, shape (n, K)
        Gain of each option, not negative, with at least one positive gain per round.

    Returns
    -------
    Curves
        One curve per round.

    Examples
    --------
    >>> curves = relative_regret(scores=[[0.1, 0.5]], gains=[[3.0, 4.0]])
    >>> curves.loss_at(0, 0.1), curves.loss_at(0, 0.5), curves.size_at(0, 0.5)
    (0.25, 0.0, 2.0)

    References
    ----------
    Zecchin and Simeone, "Localized Adaptive Risk Control", NeurIPS 2024.
    """
    s = _table("scores", scores)
    gain = _table("gains", gains, len(s))
    if gain.shape != s.shape:
        raise ValueError(f"gains must have the shape of scores, {s.shape}, got {gain.shape}.")
    hopeless = (gain < 0).any(axis=1) | (gain.max(axis=1) <= 0)
    if hopeless.any():
        raise ValueError(
            f"gains of round {int(np.argmax(hopeless))} must not be negative, and one at least "
            "must be positive. Drop rounds in which no option has a gain."
        )
    order = np.argsort(s, axis=1, kind="stable")
    best = np.maximum.accumulate(np.take_along_axis(gain, order, axis=1), axis=1)
    empty = np.full((len(s), 1), -np.inf)
    breakpoints = np.column_stack([empty, np.take_along_axis(s, order, axis=1)])
    losses = np.column_stack([np.ones(len(s)), 1.0 - best / best[:, -1:]])
    sizes = np.broadcast_to(np.arange(breakpoints.shape[1], dtype=np.float64), breakpoints.shape)
    return _rectangular(breakpoints, losses, sizes, 1.0)


def from_table(
    losses: ArrayLike,
    grid: ArrayLike,
    sizes: ArrayLike | None = None,
    bound: float = 1.0,
    below: ArrayLike | None = None,
) -> Curves:
    """Return curves from losses that are known on a grid of thresholds.

    Between two grid points the loss is taken from the lower one, so it is overstated by at most
    `Curves.grid_error`, and never understated.

    Parameters
    ----------
    losses : array_like of float, shape (n, m)
        Loss of each round at each threshold, not increasing along a row.
    grid : array_like of float, shape (m,)
        Ascending thresholds.
    sizes : array_like of float, shape (n, m), optional
        Set sizes, not decreasing along a row.
    bound : float, default 1.0
        Largest possible loss.
    below : array_like of float, shape (n,), optional
        Loss of each round's empty set, which applies below the grid. Default: `bound`.

    Returns
    -------
    Curves
        One curve per round.

    Examples
    --------
    >>> from_table([[0.8, 0.2]], grid=[0.0, 1.0]).loss_at(0, 0.5)
    0.8
    """
    at = _vector("grid", grid)
    if len(at) == 0 or (np.diff(at) <= 0).any():
        raise ValueError("grid must have at least one threshold, in ascending order.")
    table = _table("losses", losses)
    if table.shape[1] != len(at):
        raise ValueError(
            f"losses must have {len(at)} columns, one per threshold, got {table.shape}."
        )
    n = len(table)
    breakpoints = np.column_stack([np.full(n, -np.inf), np.tile(at, (n, 1))])
    largest = validation.not_negative("bound", bound, "It is the largest possible loss, e.g. 1.0.")
    empty = np.full(n, largest) if below is None else _vector("below", below, n)
    steps = np.column_stack([empty, table])
    size = None
    if sizes is not None:
        size = np.column_stack([np.zeros(n), _table("sizes", sizes, n)])
    error = float(np.abs(np.diff(steps, axis=1)).max(initial=0.0))
    return _rectangular(breakpoints, steps, size, bound, grid_error=error)


def from_function(
    loss: Callable[[int, FloatArray], ArrayLike],
    rounds: int,
    grid: ArrayLike,
    size: Callable[[int, FloatArray], ArrayLike] | None = None,
    bound: float = 1.0,
) -> Curves:
    """Return curves of any bounded loss that does not increase with the threshold.

    Parameters
    ----------
    loss : callable
        `loss(t, thresholds)` returns the losses of round t (counted from 0) at an array of
        thresholds.
    rounds : int
        Number of rounds.
    grid : array_like of float, shape (m,)
        Ascending thresholds at which the loss is evaluated; see `from_table`.
    size : callable, optional
        `size(t, thresholds)` returns set sizes in the same way.
    bound : float, default 1.0
        Largest possible loss.

    Returns
    -------
    Curves
        One curve per round.

    Examples
    --------
    >>> curves = from_function(lambda t, g: np.clip(1 - g, 0, 1), 2, grid=[0.0, 0.5, 1.0])
    >>> curves.losses_at([0.7, 1.0]), curves.grid_error
    (array([0.5, 0. ]), 0.5)
    """
    at = _vector("grid", grid)
    count = validation.integer("rounds", rounds, 0, "It is the number of rounds.")
    if not callable(loss):
        raise TypeError(f"loss must be a function of (t, thresholds), got {loss!r}.")

    def evaluate(name: str, function: Callable[[int, FloatArray], ArrayLike]) -> FloatArray:
        rows = [validation.numbers(f"{name} of round {t}", function(t, at)) for t in range(count)]
        full = [np.broadcast_to(row, at.shape) for row in rows]
        return np.stack(full) if full else np.zeros((0, len(at)))

    sizes = None if size is None else evaluate("size", size)
    return from_table(evaluate("loss", loss), at, sizes, bound)


def _rectangular(
    breakpoints: FloatArray,
    losses: FloatArray,
    sizes: FloatArray | None,
    bound: float,
    widths: FloatArray | None = None,
    grid_error: float = 0.0,
) -> Curves:
    """Return curves in which every round has the same number of steps."""
    n, steps = breakpoints.shape
    offsets = np.arange(n + 1, dtype=np.int64) * steps
    flat_sizes = None if sizes is None else np.ascontiguousarray(sizes).reshape(-1)
    flat = breakpoints.reshape(-1), losses.reshape(-1)
    return Curves(*flat, flat_sizes, offsets, bound, widths, grid_error)


def _vector(name: str, values: ArrayLike, length: int | None = None) -> FloatArray:
    """Return a vector with one finite number per round."""
    array = validation.numbers(name, values)
    if array.ndim != 1 or (length is not None and len(array) != length):
        wanted = "one number per round" if length is None else f"{length} numbers, one per round"
        raise ValueError(f"{name} must have {wanted}, got shape {array.shape}.")
    return array


def _table(name: str, values: ArrayLike, rows: int | None = None) -> FloatArray:
    """Return an array of finite numbers with one row per round."""
    array = validation.numbers(name, values)
    if array.ndim != 2 or array.shape[1] == 0 or (rows is not None and len(array) != rows):
        wanted = "(n, K)" if rows is None else f"({rows}, K)"
        raise ValueError(f"{name} must have shape {wanted}, one row per round, got {array.shape}.")
    return array
