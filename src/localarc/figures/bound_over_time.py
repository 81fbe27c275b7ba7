"""The band: how far the mean loss could be from the target after each round."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.calibrators.adaptive import AdaptiveCalibrator
from localarc.calibrators.mondrian import Mondrian
from localarc.guarantees.drift import NormSums
from localarc.guarantees.theorems import score_range
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from localarc.guarantees import Evidence
    from localarc.record import Record


def promised_band(calibrator: Any, record: Record, rounds: IntArray) -> FloatArray:
    """The certificate's bound on |mean loss - alpha|, had it been asked after each of `rounds`.

    Infinite where nothing is promised, or where the calibrator is not one of ours.
    """
    if isinstance(calibrator, AdaptiveCalibrator):
        return _bounds(calibrator, record.evidence, rounds)
    if isinstance(calibrator, Mondrian) and record.groups is not None:
        return _over_groups(calibrator, record, rounds)
    return np.full(len(rounds), math.inf)


def _bounds(calibrator: AdaptiveCalibrator, evidence: Evidence, rounds: IntArray) -> FloatArray:
    """The smaller of theorems A and B, among those that hold."""
    certificate = calibrator.certificate(evidence=evidence)
    bounds = np.full(len(rounds), math.inf)
    if certificate.theorem_a.holds:
        fresh = copy.copy(calibrator).reset().certificate(evidence=evidence)
        bounds = np.array([fresh.forward(int(t)).value for t in rounds])
    scores = score_range(calibrator.settings, evidence)
    if certificate.theorem_b.holds and scores is not None:
        sums = NormSums(calibrator.settings, scores)
        bounds = np.minimum(bounds, [sums.advance(int(t)).theorem_b_bound for t in rounds])
    return bounds


def _over_groups(calibrator: Mondrian, record: Record, rounds: IntArray) -> FloatArray:
    """Deviations average over groups, weighted by how many rounds each has had."""
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
