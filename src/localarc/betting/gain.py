"""The formula of theorem E: no gain exceeds `min_beta (Lambda + beta^2 W) / beta`.

`Lambda = ln(2 K A / p)`, without the 2 where there is one side. A gain adds up what one side of a
node won, W what the steps cost, p is the node's stake, and A is what all bets were granted. Every
certificate takes the formula from here; `docs/guarantees.md` has the proof.
"""

from __future__ import annotations

import numpy as np

from localarc.constants import BETS, LATE_BET
from localarc.validation import FloatArray

BETAS: FloatArray = 2.0 ** -np.arange(1.0, BETS + 1.0)


def largest_bet(pending: FloatArray | float, drop: FloatArray | float) -> FloatArray:
    """The largest beta allowed once the weight `pending` was pending; drop: the largest -y."""
    late = np.minimum(1.0, LATE_BET / drop) / (1.0 + pending)
    return np.where(np.greater(pending, 0.0), late, 0.5)


def budget(granted: FloatArray | float, stake: float, sides: float, cap: float) -> FloatArray:
    """Lambda: a logarithm, continued by its tangent from where the terms of bets are capped."""
    most = np.asarray(sides * BETS * granted / stake)
    known = most > 0.0  # sums that were large have lost what is small to rounding
    logarithm = np.log(np.clip(most, None, cap), out=np.full(most.shape, np.inf), where=known)
    return np.where(known, logarithm + np.maximum(most / cap - 1.0, 0.0), np.inf)


def most_gain(
    budget: FloatArray, cost: FloatArray | float, largest: FloatArray | float
) -> FloatArray:
    """min over beta of (Lambda + beta^2 W) / beta, over the bets up to `largest`."""
    values = np.asarray(budget)[..., None] / BETAS + BETAS * np.asarray(cost)[..., None]
    allowed = np.asarray(largest)[..., None] >= BETAS
    return np.asarray(np.where(allowed, values, np.inf).min(axis=-1))
