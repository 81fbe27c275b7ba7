"""Scenarios of an adversary against theorem E: what it may choose, drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc import validation

PLACES = ("random groups", "random weights", "blocks of rounds", "where the bets are high")
"""Which nodes a round touches."""

BASES = ("anywhere", "against the bets", "lowest", "jumps")
"""The base threshold, which the bets must correct."""

UNITS = ("range", "anything")
"""The unit of the bets: the range of the scores, or a random one from 1/100 to 10 times that."""

LOSSES = (
    "always",
    "never",
    "long phases",
    "short phases",
    "coin",
    "target",
    "against one node",
    "against the constant",
    "against the constant, two in three",
    "second half",
)
"""When the adversary wants a loss."""

ORDERS = (
    "at once",
    "oldest first",
    "newest first",
    "random",
    "highest threshold first",
    "lowest threshold first",
    "in batches",
    "newest half first",
)
"""The order in which losses arrive."""


@dataclass(frozen=True)
class Scenario:
    """What an adversary against theorem E does, and what it is up against.

    Parameters
    ----------
    alpha : float
        Target risk.
    loss_bound : float
        Largest loss.
    two_sided : bool
        Whether the risk must not be too low either.
    limited : bool
        Whether floor and ceiling are stated. The adversary may then return any loss at any
        threshold. Otherwise thresholds of at least the largest score cost at most `alpha` (A2).
    score_range : tuple of float
        Smallest and largest score, or the limits.
    nodes : int
        Number of nodes besides the constant.
    places, base, unit, losses, order : str
        Strategies: one of `PLACES`, `BASES`, `UNITS`, `LOSSES` and `ORDERS`.
    max_pending : int
        How many losses are pending at most when a threshold is requested.
    forgets : bool
        Whether one loss in ten never arrives.
    seed : int
        Seed of the adversary's random choices.

    Examples
    --------
    >>> Scenario.draw(1).order in ORDERS
    True
    """

    alpha: float
    loss_bound: float
    two_sided: bool
    limited: bool
    score_range: tuple[float, float]
    nodes: int
    places: str
    base: str
    unit: str
    losses: str
    order: str
    max_pending: int
    forgets: bool
    seed: int

    @classmethod
    def draw(cls, seed: int) -> Scenario:
        """Return a random scenario.

        Parameters
        ----------
        seed : int
            Same seed, same scenario.

        Examples
        --------
        >>> Scenario.draw(3) == Scenario.draw(3)
        True
        """
        random = np.random.default_rng(validation.integer("seed", seed, 0, "Same seed, same draw."))
        span = 10.0 ** random.uniform(-3, 3)
        low = span * float(random.choice([0.0, -1.0, 5.0]))
        pending = int(random.choice([0, 0, 1, 3, 10, 50, 200]))
        return cls(
            alpha=float(random.choice([0.02, 0.1, 0.3, 0.6])),
            loss_bound=float(random.choice([1.0, 2.0])),
            two_sided=bool(random.integers(2)),
            limited=bool(random.random() < 0.35),
            score_range=(low, low + span),
            nodes=int(random.choice([0, 1, 4, 8])),
            places=str(random.choice(PLACES)),
            base=str(random.choice(BASES)),
            unit=str(random.choice(UNITS)),
            losses=str(random.choice(LOSSES)),
            order=str(random.choice(ORDERS[1:])) if pending else ORDERS[0],
            max_pending=pending,
            forgets=bool(random.random() < 0.2),
            seed=seed,
        )
