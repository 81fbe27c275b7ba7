"""Candidates: those that a user passes, checked, or a grid that follows the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from localarc.calibrators.arc import ARC
from localarc.calibrators.base import BaseCalibrator
from localarc.calibrators.larc import LARC
from localarc.calibrators.mondrian import Mondrian
from localarc.curves import Curves
from localarc.kernels import RBF
from localarc.running import from_data
from localarc.validation import FloatArray


def candidate_grid(X: FloatArray, curves: Curves, alpha: float) -> tuple[ARC | LARC, ...]:
    """Return ARC with every rate, and L-ARC with every length scale and rate, from the data."""
    bound, rates = curves.bound, from_data.rates(curves, alpha)
    flat = [ARC(alpha, rate, loss_bound=bound) for rate in rates]
    decay = from_data.regularization(curves, alpha)
    local = [
        LARC(alpha, RBF(lengths), rate, decay, loss_bound=bound)
        for lengths in from_data.length_scales(X)
        for rate in rates
    ]
    return (*flat, *local)


def checked_candidates(
    candidates: Sequence[BaseCalibrator], alpha: float | None
) -> tuple[BaseCalibrator, ...]:
    """Return the candidates of a user; raises with the reason if they cannot be compared."""
    listed = tuple(candidates) if isinstance(candidates, Iterable) else (candidates,)
    wrong = [each for each in listed if not isinstance(each, BaseCalibrator) or each.rounds]
    if wrong or not listed or not isinstance(candidates, Iterable):
        raise TypeError(
            f"candidates must be new calibrators, got {wrong[0] if wrong else candidates!r}. "
            "For example [LARC(0.1, RBF(s)) for s in (0.1, 1.0)]."
        )
    if any(isinstance(each, Mondrian) and "groups" in each.learns_from for each in listed):
        raise ValueError(
            "candidates must find groups themselves: construct Mondrian with group_of."
        )
    if len({each.alpha for each in listed}) > 1:
        raise ValueError(
            "all candidates must have the same alpha: different targets cannot be compared."
        )
    if alpha is not None and alpha != listed[0].alpha:
        raise ValueError(
            f"alpha must be that of the candidates, {listed[0].alpha}, got {alpha}. It is only "
            "needed without candidates."
        )
    return listed
