"""An adversary: bounded scores, chosen after seeing the threshold, to break the promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from localarc import validation
from localarc.record import Record
from localarc.validation import FloatArray

Wish = Callable[[int, np.random.Generator], bool]
"""Whether the adversary wants the set to miss in round t."""

STRATEGIES: dict[str, Wish] = {
    "always miss": lambda t, random: True,
    "never miss": lambda t, random: False,
    "long phases": lambda t, random: int(np.log2(t + 1)) % 2 == 0,
    "short phases": lambda t, random: (t // 50) % 2 == 0,
    "coin": lambda t, random: bool(random.random() < 0.5),
}


def attack(
    calibrator: Any,
    rounds: int,
    strategy: str = "always miss",
    *,
    score_range: tuple[float, float] = (0.0, 1.0),
    dimension: int = 2,
    seed: int = 0,
) -> Record:
    """Play against a calibrator: see its threshold, then choose the outcome.

    Where the strategy wants a miss, the score lies just above the threshold, if the range allows
    it; else at the bottom of the range. Inputs hop between two far places, so that what is learnt
    in one is of no use in the other. A miss costs the calibrator's `loss_bound`, so (A1)-(A3) hold.
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}.")
    wants_miss = STRATEGIES[strategy]
    low, high = validation.ascending_pair(score_range)
    cost = float(getattr(calibrator, "loss_bound", 1.0))
    random = np.random.default_rng(seed)
    thresholds, losses = np.empty(
        (2, validation.integer("rounds", rounds, 1, "Play at least one."))
    )
    for t in range(rounds):
        x = _place(t, dimension, random)
        thresholds[t] = threshold = float(calibrator.threshold(x))
        score = np.nextafter(threshold, np.inf) if wants_miss(t, random) else low
        losses[t] = cost * float(min(max(score, low), high) > threshold)
        calibrator.update(x, losses[t])
    sizes = np.maximum(0.0, 2.0 * thresholds)
    return Record(thresholds, losses, sizes, None, calibrator.alpha, repr(calibrator))


def _place(t: int, dimension: int, random: np.random.Generator) -> FloatArray:
    home = np.full(dimension, 3.0 if (t // 7) % 2 else -3.0)
    return home + 0.1 * random.normal(size=dimension)
