"""Bound over time: the certified distance of the mean loss from the target at each round."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING

import numpy as np

from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.mondrian import Mondrian
from localarc.guarantees.drift import NormSums
from localarc.guarantees.theorems import score_range
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from localarc.guarantees import Evidence
    from localarc.running.record import Record


def bound_over_time(calibrator: object, record: Record, rounds: IntArray) -> FloatArray:
    """Return the bound on |mean loss - alpha| that a certificate would have given at each round.

    Parameters
    ----------
    calibrator : object
        The calibrator after the replay: an ARC, LARC or Mondrian.
    record : Record
        What `replay` returned.
    rounds : array of int
        Rounds, counted from 1, such as `shown_rounds(len(record))`.

    Returns
    -------
    array of float
        One bound per round; infinity where no bound holds, or for other calibrators.

    Examples
    --------
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream, cal = heteroscedastic(100, seed=0), ARC(alpha=0.1, score_range=(0.0, 20.0))
    >>> record = replay(cal, stream.X, stream.curves)
    >>> bound_over_time(cal, record, np.array([25, 100])).round(2)
    array([4.2, 2.1])
    """
    if isinstance(calibrator, AdaptiveCalibrator):
        return _bounds(calibrator, record.evidence, rounds)
    if isinstance(calibrator, Mondrian) and record.groups is not None:
        return _over_groups(calibrator, record, rounds)
    return np.full(len(rounds), math.inf)


def _bounds(calibrator: AdaptiveCalibrator, evidence: Evidence, rounds: IntArray) -> FloatArray:
    """Return the smaller bound of theorems A and B, among those that hold."""
    certificate = calibrator.certificate(evidence=evidence)
    bounds = np.full(len(rounds), math.inf)
    if calibrator.settings.floor is not None:
        return bounds  # how far the floor lifted the constant by then is not known any more
    if certificate.theorem_a.holds:
        fresh = copy.copy(calibrator).reset().certificate(evidence=evidence)
        bounds = np.array([fresh.forward(int(t)).value for t in rounds])
    scores = score_range(calibrator.settings, evidence)
    if certificate.theorem_b.holds and scores is not None:
        sums = NormSums(calibrator.settings, scores, calibrator.settings.start)
        bounds = np.minimum(bounds, [sums.advance(int(t)).theorem_b_bound for t in rounds])
    return np.where(rounds >= calibrator.broken_since, math.inf, bounds)


def _over_groups(calibrator: Mondrian, record: Record, rounds: IntArray) -> FloatArray:
    """Average the bounds of the groups, weighted by their numbers of rounds."""
    labels = record.groups or ()
    total = np.zeros(len(rounds))
    for group, part in calibrator.calibrators.items():
        seen = np.cumsum([label == group for label in labels])[rounds - 1]
        some = seen > 0
        if isinstance(part, AdaptiveCalibrator) and some.any():
            counts, back = np.unique(seen[some], return_inverse=True)
            total[some] += seen[some] * _bounds(part, record.evidence, counts)[back]
        elif some.any():
            total[some] = math.inf
    return np.asarray(total / rounds)
