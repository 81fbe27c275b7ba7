"""Risk: the mean loss, overall and over time."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.tables import frames
from localarc.validation import FloatArray


def risk(losses: ArrayLike) -> float:
    """Return the mean loss.

    Parameters
    ----------
    losses : array_like of float, shape (n,)
        Loss of each round.

    Returns
    -------
    float
        The mean; NaN without rounds.

    Examples
    --------
    >>> risk([1.0, 0.0, 0.5])
    0.5
    """
    values = loss_vector(losses)
    return float(values.mean()) if len(values) else math.nan


def running_risk(losses: ArrayLike) -> FloatArray:
    """Return the mean loss up to each round.

    Parameters
    ----------
    losses : array_like of float, shape (n,)
        Loss of each round.

    Returns
    -------
    array of float, or series, shape (n,)
        Mean of the first 1, 2, ..., n losses; a series, with pandas' index, if these are one.

    Examples
    --------
    >>> running_risk([1.0, 0.0, 0.5])
    array([1. , 0.5, 0.5])
    """
    values = loss_vector(losses)
    running = np.asarray(np.cumsum(values) / np.arange(1, len(values) + 1))
    return frames.like(losses, "running_risk", running)


def rolling_risk(losses: ArrayLike, window: int) -> FloatArray:
    """Return the mean loss of the most recent rounds.

    Parameters
    ----------
    losses : array_like of float, shape (n,)
        Loss of each round.
    window : int
        Number of rounds to average over.

    Returns
    -------
    array of float, shape (n,)
        Mean of the latest `window` losses at each round; NaN for the first `window - 1`. A series
        if the losses are one.

    Examples
    --------
    >>> rolling_risk([1.0, 0.0, 0.5], window=2)
    array([ nan, 0.5 , 0.25])
    """
    values = loss_vector(losses)
    width = validation.integer("window", window, 1, "It is a number of rounds.")
    rolling = np.full(len(values), np.nan)
    if len(values) >= width:
        sums = np.cumsum(np.concatenate(([0.0], values)))
        rolling[width - 1 :] = (sums[width:] - sums[:-width]) / width
    return frames.like(losses, "rolling_risk", rolling)


def distance_to_target(losses: ArrayLike, alpha: float) -> FloatArray:
    """Return `|mean loss - alpha|` up to each round: the quantity that long-run bounds bound.

    Parameters
    ----------
    losses : array_like of float, shape (n,)
        Loss of each round.
    alpha : float
        Target risk.

    Returns
    -------
    array of float, shape (n,)
        Distance after each round; a series if the losses are one.

    Examples
    --------
    >>> distance_to_target([1.0, 0.0], alpha=0.5)
    array([0.5, 0. ])
    """
    away = np.abs(np.asarray(running_risk(losses)) - alpha)
    return frames.like(losses, "distance_to_target", away)


def worst_part(losses: FloatArray, parts: int) -> float:
    """Return the highest mean loss among consecutive parts of equal length.

    Parameters
    ----------
    losses : array of float, shape (n,)
        Loss of each round.
    parts : int
        Number of parts; a short stream has one for each round.

    Returns
    -------
    float
        The risk of the worst part.

    Examples
    --------
    >>> worst_part(np.array([0.0, 0.0, 1.0, 0.0]), parts=2)
    0.5
    """
    pieces = np.array_split(losses, min(parts, len(losses)))
    return max(float(piece.mean()) for piece in pieces)


def loss_vector(losses: ArrayLike) -> FloatArray:
    """Return losses as a vector with one finite number per round."""
    values = validation.numbers("losses", losses)
    if values.ndim != 1:
        raise ValueError(f"losses must have one number per round, got shape {values.shape}.")
    return values
