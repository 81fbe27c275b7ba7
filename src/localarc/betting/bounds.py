"""Theorem E as bounds on mean losses: of a node, of all rounds, and at a later round.

A bound that the losses have passed is withdrawn: one of its assumptions is false.
"""

from __future__ import annotations

import math

from localarc import validation
from localarc.betting.node_certificate import BELOW
from localarc.betting.sums import Sums
from localarc.constants import LATE_FACTOR, LATE_REACH, LATE_RESTART, SQUARE, STAKE, STAKE_ALL
from localarc.engine.auto import layout
from localarc.guarantees.bounds import Bound, Side
from localarc.validation import FloatArray

_LOSSES = "losses in [0, B]"


def above(sums: Sums, node: FloatArray, stake: float) -> Bound:
    """How far the mean loss at a node can be above the target."""
    unmet = (*_started(node), *_broken_ceiling(sums))
    value = _most(sums, node, stake, "above", sums.granted)
    bound = Bound("theorem E, above", value, (_LOSSES, _ceiling(sums)), unmet, "above")
    return bound.beside(sums.deviation(node))


def below(sums: Sums, node: FloatArray, stake: float) -> Bound:
    """How far the mean loss at a node can be below the target."""
    if not sums.two_sided:
        least = sums.largest_deviation("below")
        return Bound("not below 0", least, ("losses are not negative",), _started(node), "below")
    unmet = (*_started(node), *_broken_floor(sums))
    value = _most(sums, node, stake, "below", sums.granted)
    bound = Bound(BELOW, value, (_LOSSES, _ceiling(sums), *_floor(sums)), unmet, "below")
    return bound.beside(sums.deviation(node))


def observed(sums: Sums, node: FloatArray) -> Bound:
    """`|risk - alpha|` over all rounds, from what the bets were granted in fact."""
    value = max(_most(sums, node, STAKE_ALL, side, sums.paid) for side in sums.sides)
    assumes = ("the running sums are complete",)
    bound = Bound("observed (bets)", value, assumes, _started(node), sums.side)
    return bound.beside(sums.deviation(node))


def forward(sums: Sums, node: FloatArray, rounds: int) -> Bound:
    """For the mean loss at a later round, if units, scores and delays stay as they were."""
    hint = "It must be a round that is still to come."
    seen = int(sums.rounds)
    ahead = validation.integer("rounds", rounds, seen + 1, hint) - seen
    total = sums.granted + ahead * growth(sums)
    value = max(_most(sums, node, STAKE_ALL, side, total, ahead, rounds) for side in sums.sides)
    now = [bound(sums, node, STAKE_ALL) for bound in (above, below)[: len(sums.sides)]]
    unmet = [*dict.fromkeys(reason for bound in now for reason in bound.unmet)]
    if seen and math.isnan(sums.ceiling):
        unmet.append("no score has been seen")
    assumes = (
        *(_LOSSES, _ceiling(sums), *_floor(sums)),
        "units, the range of scores and the number of pending losses stay as seen",
        "no more thresholds at a limit that is not stated",
    )
    bound = Bound(f"forward to T = {rounds}", value, assumes, tuple(unmet), sums.side)
    return bound.beside(least_deviation(sums, node, ahead, rounds))


def _most(
    sums: Sums,
    node: FloatArray,
    stake: float,
    side: Side,
    total: float,
    ahead: int = 0,
    rounds: float | None = None,
) -> float:
    """A bound on the mean of L - alpha on one side, if the bets were granted `total`.

    Over the rounds so far; or over `rounds`, of which `ahead` are still to come.
    """
    weight = float(node[layout.VISITS]) if rounds is None else rounds
    if not weight:
        return math.inf
    more_cost = ahead * _largest_cost(sums, node, side)
    gain = sums.most_gain(node, stake, side, total, more_cost) + sums.lost(side)
    return min(sums[layout.TOP] * gain / weight, sums.largest_deviation(side))


def _largest_cost(sums: Sums, node: FloatArray, side: Side) -> float:
    """The most that a step of one side can cost, while no more is pending than ever before."""
    drop, most = sums.drop(side), float(node[layout.MOST_WEIGHT])
    late = LATE_FACTOR * drop * (drop + LATE_REACH * drop * most) if most else 0.0
    return max(SQUARE + most, late)


def least_deviation(sums: Sums, node: FloatArray, ahead: int, rounds: int) -> float:
    """The least deviation from the target that any `ahead` more rounds can leave."""
    low, high = -sums.largest_deviation("below"), sums.largest_deviation("above")
    so_far = sums.excess(node)
    return min(max(0.0, (so_far + ahead * low) / rounds), (so_far + ahead * high) / rounds)


def growth(sums: Sums) -> float:
    """How much A can grow in a round."""
    floor = sums[layout.FLOOR]
    if floor == -math.inf:
        floor = 2.0 * sums[layout.LOWEST] - sums[layout.HIGHEST]
    reach = (sums.ceiling - floor) / sums[layout.SMALLEST_UNIT]
    stakes = STAKE_ALL + STAKE * sums.columns
    return reach + (1.0 + LATE_RESTART) * stakes


# ---- assumptions -----------------------------------------------------------------------------


def _started(node: FloatArray) -> tuple[str, ...]:
    return () if node[layout.VISITS] > 0.0 else ("no round has been seen",)


def _ceiling(sums: Sums) -> str:
    if sums[layout.CEILING] < math.inf:
        return f"the ceiling {sums.ceiling:.4g} costs at most alpha"
    source = "as stated" if sums.highest_score is not None else "the largest score seen"
    return f"thresholds of at least {sums.ceiling:.4g}, {source}, cost at most alpha"


def _floor(sums: Sums) -> tuple[str, ...]:
    if sums[layout.FLOOR] == -math.inf:
        return ()
    return (f"the floor {sums[layout.FLOOR]:.4g} costs at least alpha",)


def _broken_ceiling(sums: Sums) -> list[str]:
    if sums[layout.CEILING_FAILS]:
        count, since = int(sums[layout.CEILING_FAILS]), int(sums[layout.CEILING_SINCE])
        return [f"the ceiling cost more than alpha in {count} round(s), since round {since}"]
    if sums[layout.CEILING] == math.inf and sums[layout.COSTLIEST] >= sums.ceiling:
        return [
            f"a threshold of {sums[layout.COSTLIEST]:.4g} cost more than alpha, although no "
            f"score is above {sums.ceiling:.4g}"
        ]
    if sums[layout.UP_INVERSE] and math.isnan(sums.ceiling):
        return ["no score was seen, and no ceiling is stated: pass scores, or limits"]
    return []


def _broken_floor(sums: Sums) -> list[str]:
    if sums[layout.FLOOR_FAILS]:
        count, since = int(sums[layout.FLOOR_FAILS]), int(sums[layout.FLOOR_SINCE])
        return [f"the floor cost less than alpha in {count} round(s), since round {since}"]
    return _broken_ceiling(sums)  # A rests on both
