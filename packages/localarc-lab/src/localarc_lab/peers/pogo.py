"""POGO: a coin bettor per group, whose bets add up to the threshold."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.gcaci import with_everyone


class POGO(Peer):
    """Parameter-free group-conditional online conformal prediction.

    Everyone and each group bet on misses. With m misses in n rounds of a group, its bet is
    `wealth (p - alpha) / (alpha (1 - alpha))`, where `p = (m + 1/2) / (n + 1)`. The threshold is
    the sum of the bets of the round's groups, and a bet b of wealth w turns it into
    `w + b (loss - alpha)`.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted, in every group.
    group_count : int, default 0
        Number of groups that will be seen, besides the group of all rounds; each of them starts
        with an equal part of the wealth.
    wealth : float, default 1.0
        The wealth of all groups together at the start, in units of the score.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        Added to every threshold.

    Examples
    --------
    >>> cal = POGO(alpha=0.1, group_count=1)
    >>> _ = cal.update(None, loss=1.0, score=2.0, groups="night")
    >>> cal.threshold(None, groups="night") > cal.threshold(None) > 0.0
    True

    References
    ----------
    Bharti, Pal, Teneggi and Sulam, "Parameter-Free and Group Conditional Online Conformal
    Prediction", arXiv 2606.00419, 2026, for groups without weights: a membership of any weight
    counts as 1. The authors' code is github.com/beepulbharti/pogo.
    """

    learns_from: ClassVar[frozenset[str]] = frozenset({"groups"})

    def __init__(
        self,
        alpha: float,
        group_count: int = 0,
        wealth: float = 1.0,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        hint = "It is the number of groups that will be seen."
        self.group_count = validation.integer("group_count", group_count, 0, hint)
        self.wealth = validation.positive("wealth", wealth, "It is in units of the score.")
        self._bettors: dict[Hashable, tuple[float, float, int]] = {}  # wealth, misses, rounds

    def _bet(self, group: Hashable) -> float:
        wealth, misses, rounds = self._bettors.get(group, self._new())
        rate = (misses + 0.5) / (rounds + 1.0)
        return wealth * (rate - self._target) / (self._target * (1.0 - self._target))

    def _new(self) -> tuple[float, float, int]:
        return self.wealth / (self.group_count + 1), 0.0, 0

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self.initial_threshold + sum(map(self._bet, with_everyone(groups)))

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        for group in with_everyone(groups):
            wealth, misses, rounds = self._bettors.get(group, self._new())
            wealth += self._bet(group) * (loss - self._target)
            self._bettors[group] = wealth, misses + loss, rounds + 1
