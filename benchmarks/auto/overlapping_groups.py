"""Groups: all 45 pairs of ten attributes, which overlap, each with its own difficulty."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations

import numpy as np

from benchmarks.auto.measured import Measured, at_most, plain, with_error
from localarc import ARC, AutoLARC
from localarc.validation import FloatArray

ALPHA = 0.1
ROUNDS = 20_000
SEEDS = range(3)
PAIRS = list(combinations(range(10), 2))
Groups = list[list[Hashable]]


def measure() -> list[Measured]:
    errors, ratios, arc_errors = [], [], []
    for seed in SEEDS:
        scores, groups = stream(seed)
        mine = _run(AutoLARC(ALPHA), scores, groups)
        arc = _run(ARC(ALPHA, float(scores.std())), scores, None)
        errors.append(rms(scores, mine, groups))
        arc_errors.append(rms(scores, arc, groups))
        ratios.append(float(mine.mean() / arc.mean()))
    name = "45 overlapping groups"
    mean, ratio = float(np.mean(errors)), float(np.mean(ratios))
    return [
        at_most(name, "rms of (risk - target)", mean, 0.006, with_error(errors, 4)),
        plain(name, "the same, ARC", float(np.mean(arc_errors)), with_error(arc_errors, 4)),
        at_most(name, "size over ARC's", ratio, 1.04, with_error(ratios)),
    ]


def stream(seed: int) -> tuple[FloatArray, Groups]:
    """Scores whose scale is a product over the attributes, and the pairs that each round is in."""
    random = np.random.default_rng(seed)
    has = random.random((ROUNDS, 10)) < 0.5
    scale = np.exp(has @ np.linspace(-0.3, 0.3, 10))
    groups: Groups = [[f"{i} and {j}" for i, j in PAIRS if row[i] and row[j]] for row in has]
    return np.abs(random.normal(size=ROUNDS)) * scale, groups


def _run(cal: AutoLARC | ARC, scores: FloatArray, groups: Groups | None) -> FloatArray:
    thresholds = np.empty(len(scores))
    for t, score in enumerate(scores.tolist()):
        if isinstance(cal, ARC):
            thresholds[t] = cal.threshold(None)
            cal.update(None, float(score > thresholds[t]))
        else:
            where = [] if groups is None else groups[t]
            thresholds[t] = cal.threshold([], groups=where)
            cal.update([], float(score > thresholds[t]), score=score, groups=where)
    return thresholds


def rms(scores: FloatArray, thresholds: FloatArray, groups: Groups) -> float:
    """Root mean square over the groups of their risk minus the target."""
    members: dict[Hashable, list[int]] = {}
    for t, names in enumerate(groups):
        for name in names:
            members.setdefault(name, []).append(t)
    risks = [np.mean(scores[rows] > thresholds[rows]) for rows in members.values()]
    return float(np.sqrt(np.mean((np.array(risks) - ALPHA) ** 2)))
