"""Chance: how far the mean loss of a calibrated run can lie from its target."""

from __future__ import annotations

import math

LEVEL = 1e-3
"""Probability that a calibrated run ever leaves the limits below, on either side."""

FIRST_LOOK = 128
"""Fewer rounds are treated like this many; later looks are at powers of two."""

ENOUGH_LOSSES = 10.0
"""Losses of full size that must be expected before a mean loss says anything."""


def deviation(rounds: float, alpha: float, loss_bound: float, tries: int = 1) -> float:
    """How far above or below `alpha` the mean loss can lie by chance, at all rounds together.

    Freedman's inequality for a martingale with steps in [-alpha, B - alpha], whose variance is at
    most `alpha (B - alpha)` per round, in epochs that double: the epoch that ends at round
    `128 * 2^j` gets `1 / ((j + 1) (j + 2))` of the level. Of several runs, each gets its part.
    """
    epoch = max(1, math.ceil(math.log2(max(rounds, 1) / FIRST_LOOK)) + 1)
    logarithm = math.log(2.0 * epoch * (epoch + 1) * tries / LEVEL)
    end = FIRST_LOOK * 2 ** (epoch - 1)
    spread = math.sqrt(2.0 * end * alpha * (loss_bound - alpha) * logarithm)
    return (spread + max(alpha, loss_bound - alpha) * logarithm / 3.0) / max(rounds, 1)


def is_too_early(rounds: float, alpha: float, loss_bound: float) -> bool:
    """Whether fewer than ten losses of full size were to be expected so far."""
    return rounds * alpha < ENOUGH_LOSSES * loss_bound


def is_excess(risk: float, rounds: float, alpha: float, loss_bound: float, tries: int = 1) -> bool:
    """Whether ten losses or more were seen, above the target by more than chance.

    That says something however few were to be expected, with a rare loss or in a new group.
    """
    seen = risk * rounds >= ENOUGH_LOSSES * loss_bound
    return seen and risk > alpha + deviation(rounds, alpha, loss_bound, tries)
