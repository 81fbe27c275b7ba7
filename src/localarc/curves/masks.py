"""False negatives: the fraction of true pixels that a mask misses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc import validation
from localarc.curves.curves import Curves
from localarc.curves.losses import from_table
from localarc.validation import FloatArray, IntArray


def false_negatives(
    scores: Sequence[ArrayLike] | NDArray[np.generic],
    truth: Sequence[ArrayLike] | NDArray[np.generic],
    grid: ArrayLike | None = None,
) -> Curves:
    """Return curves of the false negative rate of masks: `1 - |mask and truth| / |truth|`.

    The size is the fraction of the image that the mask covers. An image without a true pixel has
    loss 0 at every threshold, which violates assumption (A3); `replay` warns about it.

    Parameters
    ----------
    scores : sequence of n arrays, or array, shape (n, height, width)
        Score of every pixel. Images may differ in shape.
    truth : sequence of n arrays, or array, shape (n, height, width)
        True masks, with values 0 and 1 or booleans, in the shapes of the scores.
    grid : array_like of float, shape (m,), optional
        Ascending thresholds. With a grid, a curve has m steps, and the loss is overstated by at
        most `Curves.grid_error`, never understated. Without one, each distinct score of an image
        is a step, which is exact and needs up to one step per pixel.

    Returns
    -------
    Curves
        One curve per image.

    Examples
    --------
    >>> curves = false_negatives(scores=[[[-0.9, -0.2]]], truth=[[[1, 1]]])
    >>> curves.loss_at(0, -0.5), curves.size_at(0, -0.5)
    (0.5, 0.5)
    """
    if not isinstance(scores, Sequence | np.ndarray) or not isinstance(
        truth, Sequence | np.ndarray
    ):
        raise TypeError("scores and truth must be lists of images, or 3-D arrays of them.")
    if len(scores) != len(truth):
        raise ValueError(f"truth must have one mask per image, got {len(truth)} for {len(scores)}.")
    rounds = [_image(t, scores[t], truth[t]) for t in range(len(scores))]
    return _exact(rounds) if grid is None else _on_grid(rounds, grid)


def _image(t: int, scores: ArrayLike, truth: ArrayLike) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the scores and the true mask of one image, flattened."""
    s = validation.numbers(f"scores of round {t}", scores)
    validation.require_unmasked(f"truth of round {t}", truth)
    mask = np.asarray(truth)
    if mask.shape != s.shape or s.size == 0:
        raise ValueError(
            f"the mask of round {t} must have the shape of its scores, {s.shape}, got {mask.shape}."
        )
    if mask.dtype != np.bool_ and not np.isin(mask, (0, 1)).all():
        raise ValueError(
            f"the mask of round {t} must contain only 0 and 1. Threshold it first, e.g. mask > 127."
        )
    return s.reshape(-1), mask.astype(bool).reshape(-1)


def _exact(rounds: list[tuple[FloatArray, NDArray[np.bool_]]]) -> Curves:
    """Return curves with one step per distinct score."""
    parts = [_steps(scores, mask) for scores, mask in rounds]
    lengths = [len(part[0]) for part in parts]
    breakpoints, losses, sizes = (
        np.concatenate([part[i] for part in parts]) if parts else np.zeros(0) for i in range(3)
    )
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return Curves(breakpoints, losses, sizes, offsets)


def _steps(
    scores: FloatArray, mask: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return breakpoints, losses and sizes of one image, one step per distinct score."""
    distinct, position = np.unique(scores, return_inverse=True)
    pixels = np.cumsum(np.bincount(position, minlength=len(distinct)))
    found = np.cumsum(np.bincount(position[mask], minlength=len(distinct)))
    breakpoints = np.concatenate(([-np.inf], distinct))
    return breakpoints, _missed(found, int(mask.sum())), np.append(0.0, pixels / len(scores))


def _missed(found: IntArray, true: int) -> FloatArray:
    """Return the loss of the empty set, then the loss after each step."""
    if true == 0:
        return np.zeros(len(found) + 1)
    return np.append(1.0, (true - found) / true)


def _on_grid(rounds: list[tuple[FloatArray, NDArray[np.bool_]]], grid: ArrayLike) -> Curves:
    """Return curves with one step per grid point."""
    at = validation.numbers("grid", grid)
    losses, sizes = np.zeros((2, len(rounds), at.size))
    for t, (scores, mask) in enumerate(rounds):
        # Counting with side="right" keeps ties in the set: score <= threshold.
        sizes[t] = np.searchsorted(np.sort(scores), at, side="right") / len(scores)
        found = np.searchsorted(np.sort(scores[mask]), at, side="right")
        losses[t] = _missed(found, int(mask.sum()))[1:]
    empty = [float(mask.any()) for _, mask in rounds]  # no true pixel: loss 0 at every threshold
    return from_table(losses, at, sizes, below=np.array(empty).reshape(len(rounds)))
