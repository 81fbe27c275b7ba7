"""Chance and the verdict's rules once more, in plain Python, from docs/guarantees.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

LEVEL = 1e-3
ROUNDING = 1e-9
CANDIDATES = {"group": 1, "neighbourhood": 100, "third": 1}  # that were looked at, or more


@dataclass(frozen=True)
class Seen:
    """The rounds and the mean loss of a group, a neighbourhood or a third."""

    rounds: float
    risk: float
    kind: str = "group"
    error: float | None = None


def limit(rounds: float, alpha: float, B: float, tries: int = 1) -> float:
    """Freedman's inequality, in epochs that end at round 128, 256, 512, ..."""
    j, end = 1, 128
    while end < rounds:
        j, end = j + 1, 2 * end
    log = math.log(2 * j * (j + 1) * tries / LEVEL)
    largest_step, variance = max(alpha, B - alpha), alpha * (B - alpha)
    return (math.sqrt(2 * end * variance * log) + largest_step * log / 3) / max(rounds, 1)


def few_expected(rounds: float, alpha: float, B: float) -> bool:
    return rounds * alpha < 10 * B


def excess(risk: float, rounds: float, alpha: float, B: float, tries: int = 1) -> bool:
    return risk * rounds >= 10 * B and risk - alpha > limit(rounds, alpha, B, tries)


def worst_parts(parts: Sequence[Seen], alpha: float, B: float) -> list[Seen]:
    """The parts that are above the target by more than chance, of as many as were looked at."""
    seen = [part for part in parts if part.kind == "group" or part.rounds >= 100]
    found = []
    for part in seen:
        alike = sum(other.kind == part.kind for other in seen)
        looked_at = max(CANDIDATES[part.kind], alike)
        enough = not few_expected(part.rounds, alpha, B)
        if not enough and not excess(part.risk, part.rounds, alpha, B, looked_at):
            continue
        deviations = NormalDist().inv_cdf(1 - LEVEL / looked_at)
        error = part.error or math.sqrt(max(0.0, part.risk * (B - part.risk)) / part.rounds)
        if part.risk - alpha > deviations * error + 0.05 * alpha:
            found.append(part)
    return found


def state(
    alpha: float,
    risk: float,
    rounds: int,
    bound: float | None = None,
    parts: Sequence[Seen] = (),
    B: float = 1.0,
    consistent: bool = True,
    size_ratio: float = math.nan,
) -> str:
    """The state of a verdict."""
    if not consistent:
        return "inconsistent"
    if rounds == 0:
        return "too early"
    if bound is not None and abs(risk - alpha) > bound + ROUNDING * B:
        return "not kept"
    if few_expected(rounds, alpha, B) and not (rounds >= 128 and excess(risk, rounds, alpha, B)):
        return "too early"
    if worst_parts(parts, alpha, B):
        return "not kept"
    distance = limit(rounds, alpha, B) + 0.05 * alpha
    if risk > alpha + distance:
        return "not kept"
    return "cautious" if risk < alpha - distance or size_ratio >= 5 else "kept"


def size_ratio(rows: Sequence[tuple[str, float, float]], alpha: float) -> float:
    """Thresholds beside a quantile of each series' scores; rows are series, score, threshold."""
    relative = []
    for name in {row[0] for row in rows}:
        scores = sorted(score for each, score, _ in rows if each == name)
        ranks = [math.ceil((len(scores) + 1) * (1 - alpha) * part - 1e-9) for part in (0.5, 1)]
        if ranks[1] <= len(scores) and scores[ranks[1] - 1] > scores[max(ranks[0], 1) - 1]:
            low, high = (scores[max(rank, 1) - 1] for rank in ranks)
            relative += [(thr - low) / (high - low) for each, _, thr in rows if each == name]
    if len(relative) < 100:
        return math.nan
    kept = sorted(relative)[: len(relative) - math.floor(0.05 * len(relative))]
    return sum(kept) / len(kept)
