"""The bet of a node: H(G, W) = (1/K) sum_k beta_k exp(beta_k G - beta_k^2 W), beta_k = 2^-k.

Each exponential stays at `LARGEST_TERM` once it is there: theorem E allows for that.
"""

import math
from typing import Any

from localarc.constants import BETS, LARGEST_TERM, LATE_BET
from localarc.engine.auto.layout import jit

SMALLEST = 2.0**-BETS
FRESH_BET = (1.0 - SMALLEST) / BETS  # H(0, 0) with all bets
LARGEST_EXPONENT = math.log(LARGEST_TERM)
SAFE_GAIN = 2.0 * LARGEST_EXPONENT  # with betas of at most 1/2, no smaller gain leads there


@jit
def is_small(v: float) -> bool:
    """Whether `series` is exact."""
    return -1e-3 < v < 1e-3


@jit
def series(v: float) -> float:
    """exp(v) for small v."""
    return 1.0 + v * (1.0 + v * (0.5 + v * (1.0 / 6.0 + v / 24.0)))


@jit
def exponential(v: float) -> float:
    """exp(v), by its series where that is exact."""
    return series(v) if is_small(v) else math.exp(min(v, 500.0))


@jit
def largest_bet(pending: float, drop: float) -> float:
    """The largest beta allowed once the weight `pending` was pending; drop: the largest -y."""
    return 0.5 if pending <= 0.0 else min(1.0, LATE_BET / drop) / (1.0 + pending)


@jit
def is_capped(gain: float, cost: float, largest: float) -> bool:
    """Whether some exponential may be above `LARGEST_TERM`."""
    beta = min(largest, 0.5 * gain / cost)
    return beta * (gain - beta * cost) > LARGEST_EXPONENT


@jit
def capped_wealth(gain: float, cost: float, largest: float) -> float:
    """BETS times H where doubling does not work, since what is doubled must not be capped."""
    beta, total = SMALLEST, 0.0
    while beta <= largest:
        total += beta * math.exp(min(beta * (gain - beta * cost), LARGEST_EXPONENT))
        beta *= 2.0
    return total


@jit
def wealths(
    count: int, gains: Any, costs: Any, largests: Any, totals: Any, terms: Any, shrinks: Any
) -> None:
    """totals = BETS times H of the first `count` nodes; terms and shrinks are scratch.

    The doublings are outside and the nodes inside, so that the inner loops are vectorised: they are
    only if the arrays are arguments, and if few of them meet in one loop.
    """
    beta = SMALLEST
    for i in range(count):
        shrinks[i] = series(-beta * beta * costs[i])
    for i in range(count):
        terms[i] = series(beta * gains[i]) * shrinks[i]
    for i in range(count):
        totals[i] = 0.0
        if not (is_small(beta * gains[i]) and is_small(-beta * beta * costs[i])):
            shrinks[i] = exponential(-beta * beta * costs[i])
            terms[i] = exponential(beta * gains[i]) * shrinks[i]
    for _ in range(BETS):
        for i in range(count):
            totals[i] += beta * terms[i] if beta <= largests[i] else 0.0
            shrink = shrinks[i] * shrinks[i]
            term = terms[i] * terms[i] * shrink
            terms[i] = term if term < LARGEST_TERM else LARGEST_TERM
            shrinks[i] = shrink * shrink
        beta *= 2.0
    for i in range(count):
        if gains[i] > SAFE_GAIN and is_capped(gains[i], costs[i], largests[i]):
            totals[i] = capped_wealth(gains[i], costs[i], largests[i])
