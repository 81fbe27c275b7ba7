"""Losses: each turns what is known of a stream into its curves."""

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
    """Each round costs 1, or its own `cost`, unless the set holds the truth.

    `scores` are the true outcomes' scores. For set sizes give `widths`, the interval's width at
    threshold 0 (0 for intervals around a prediction, upper - lower for quantiles), or
    `label_scores`, the scores of all labels, (n, K).

    >>> miscoverage([0.3, 0.1]).losses_at([0.2, 0.2])
    array([1., 0.])
    """
    s = _vector("scores", scores)
    costs = np.ones(len(s)) if cost is None else _vector("cost", cost, len(s))
    if widths is not None and label_scores is not None:
        raise ValueError("give widths for intervals or label_scores for label sets, not both.")
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
    table = np.sort(_table("label_scores", label_scores, len(s)), axis=1)
    absent = ~(table == s[:, None]).any(axis=1)
    if absent.any():
        raise ValueError(
            f"the score of round {int(np.argmax(absent))} is not among its label_scores. "
            "Take scores from the same table: label_scores[arange(n), y]."
        )
    breakpoints = np.column_stack([np.full(len(s), -np.inf), table])
    losses = np.where(breakpoints < s[:, None], costs[:, None], 0.0)
    sizes = np.broadcast_to(np.arange(breakpoints.shape[1], dtype=np.float64), breakpoints.shape)
    return _rectangular(breakpoints, losses, sizes, bound)


def relative_regret(scores: ArrayLike, gains: ArrayLike) -> Curves:
    """`1 - (best gain in the set) / (best gain of all)`, the beams' loss; an empty set costs 1.

    Both are (n, K): one row a round, one column an option. Sizes count options.
    """
    s = _table("scores", scores)
    gain = _table("gains", gains, len(s))
    if gain.shape != s.shape:
        raise ValueError(f"gains must have the shape of scores, {s.shape}, got {gain.shape}.")
    hopeless = (gain < 0).any(axis=1) | (gain.max(axis=1) <= 0)
    if hopeless.any():
        raise ValueError(
            f"gains of round {int(np.argmax(hopeless))} must not be negative and one must be "
            "positive. Leave out rounds in which no option gains anything."
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
    """Curves known at the thresholds of a grid: losses and sizes are (n, m), the grid is (m,).

    Between two grid points the loss is that of the lower one, and below the grid it is `below`, the
    loss of each round's empty set (`bound` if not given): overstated by at most `grid_error`, never
    understated.
    """
    at = _vector("grid", grid)
    if len(at) == 0 or (np.diff(at) <= 0).any():
        raise ValueError("grid must hold ascending thresholds, at least one.")
    table = _table("losses", losses)
    if table.shape[1] != len(at):
        raise ValueError(f"losses must have {len(at)} columns, one a threshold, got {table.shape}.")
    n = len(table)
    breakpoints = np.column_stack([np.full(n, -np.inf), np.tile(at, (n, 1))])
    empty = np.full(n, float(bound)) if below is None else _vector("below", below, n)
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
    """Curves of any bounded loss that falls with the threshold, evaluated on a grid.

    `loss(t, thresholds)` gives the losses of round t at all thresholds of the grid.

    >>> curves = from_function(lambda t, g: np.clip(1 - g, 0, 1), 2, grid=[0.0, 0.5, 1.0])
    >>> curves.losses_at([0.7, 1.0]), curves.grid_error
    (array([0.5, 0. ]), 0.5)
    """
    at = _vector("grid", grid)
    count = validation.integer("rounds", rounds, 0, "It is the number of rounds.")
    if not callable(loss):
        raise TypeError(f"loss must be a function of (t, thresholds), got {loss!r}.")

    def table(name: str, function: Callable[[int, FloatArray], ArrayLike]) -> FloatArray:
        rows = [validation.numbers(f"{name} of round {t}", function(t, at)) for t in range(count)]
        full = [np.broadcast_to(row, at.shape) for row in rows]
        return np.stack(full) if full else np.zeros((0, len(at)))

    sizes = None if size is None else table("size", size)
    return from_table(table("loss", loss), at, sizes, bound)


def _rectangular(
    breakpoints: FloatArray,
    losses: FloatArray,
    sizes: FloatArray | None,
    bound: float,
    widths: FloatArray | None = None,
    grid_error: float = 0.0,
) -> Curves:
    """Curves in which every round has the same number of steps."""
    n, steps = breakpoints.shape
    offsets = np.arange(n + 1, dtype=np.int64) * steps
    flat_sizes = None if sizes is None else np.ascontiguousarray(sizes).reshape(-1)
    flat = breakpoints.reshape(-1), losses.reshape(-1)
    return Curves(*flat, flat_sizes, offsets, float(bound), widths, grid_error)


def _vector(name: str, values: ArrayLike, length: int | None = None) -> FloatArray:
    array = validation.numbers(name, values)
    if array.ndim != 1 or (length is not None and len(array) != length):
        wanted = "one number per round" if length is None else f"{length} numbers, one per round"
        raise ValueError(f"{name} must hold {wanted}, got shape {array.shape}.")
    return array


def _table(name: str, values: ArrayLike, rows: int | None = None) -> FloatArray:
    array = validation.numbers(name, values)
    if array.ndim != 2 or array.shape[1] == 0 or (rows is not None and len(array) != rows):
        wanted = "(n, K)" if rows is None else f"({rows}, K)"
        raise ValueError(f"{name} must have shape {wanted}, one row a round, got {array.shape}.")
    return array
