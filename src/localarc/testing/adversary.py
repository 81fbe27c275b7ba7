"""An adversary: bounded scores, chosen after the threshold is known, to break a guarantee."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from localarc import validation
from localarc.calibrators.role import Calibrator
from localarc.running.record import Record
from localarc.validation import FloatArray

Strategy = Callable[[int, np.random.Generator], bool]
"""Whether the adversary wants the set to miss in round t."""

STRATEGIES: dict[str, Strategy] = {
    "always miss": lambda t, random: True,
    "never miss": lambda t, random: False,
    "long phases": lambda t, random: int(np.log2(t + 1)) % 2 == 0,
    "short phases": lambda t, random: (t // 50) % 2 == 0,
    "coin": lambda t, random: bool(random.random() < 0.5),
}


def attack(
    calibrator: Calibrator,
    rounds: int,
    strategy: str = "always miss",
    *,
    score_range: tuple[float, float] = (0.0, 1.0),
    dimension: int = 2,
    seed: int = 0,
) -> Record:
    """Play against a calibrator: the outcome is chosen after its threshold is known.

    Where the strategy wants a miss, the score lies just above the threshold, if the range allows
    it; otherwise at the bottom of the range. Inputs alternate between two distant places, so that
    what is learned in one is of no use in the other. A miss costs the calibrator's `loss_bound`,
    so (A1) to (A3) hold.

    Parameters
    ----------
    calibrator : Calibrator
        Learns as it plays.
    rounds : int
        The number of rounds.
    strategy : str, default "always miss"
        One of `STRATEGIES`.
    score_range : (float, float), default (0.0, 1.0)
        The smallest and the largest score that the adversary may choose.
    dimension : int, default 2
        The number of features of the inputs.
    seed : int, default 0
        Same seed, same inputs and coin flips.

    Returns
    -------
    Record
        Thresholds and losses, round by round.

    Examples
    --------
    >>> from localarc import ARC
    >>> run = attack(ARC(alpha=0.1), rounds=1000)
    >>> abs(run.risk - 0.1) < 0.05
    True
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}.")
    wants_miss = STRATEGIES[strategy]
    low, high = validation.ascending_pair(score_range)
    cost = float(getattr(calibrator, "loss_bound", 1.0))
    random = np.random.default_rng(seed)
    validation.integer("rounds", rounds, 1, "It is the number of rounds to play.")
    thresholds, losses = np.empty((2, rounds))
    for t in range(rounds):
        x = _input(t, dimension, random)
        thresholds[t] = threshold = float(calibrator.threshold(x))
        score = np.nextafter(threshold, np.inf) if wants_miss(t, random) else low
        losses[t] = cost * float(min(max(score, low), high) > threshold)
        calibrator.update(x, losses[t])
    sizes = np.maximum(0.0, 2.0 * thresholds)
    return Record(thresholds, losses, sizes, None, calibrator.alpha, repr(calibrator))


def _input(t: int, dimension: int, random: np.random.Generator) -> FloatArray:
    home = np.full(dimension, 3.0 if (t // 7) % 2 else -3.0)
    return home + 0.1 * random.normal(size=dimension)
