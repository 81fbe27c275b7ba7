"""Adaptive conformal inference in each group by itself."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from localarc.validation import FloatArray
from localarc_lab.peers.aci import ACI
from localarc_lab.peers.base import Memberships, Peer


class GroupACI(Peer):
    """One `ACI` per group, for groups that do not overlap.

    A round in several groups belongs to their combination. Rounds without a group are a group.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted, in every group.
    gamma : float, default 0.005
        Step of the levels.
    window : int, default 1250
        Number of recent scores of each group.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold of a group that was never seen.

    Examples
    --------
    >>> cal = GroupACI(alpha=0.1)
    >>> _ = cal.update(None, loss=1.0, score=2.0, groups="night")
    >>> cal.threshold(None, groups="night"), cal.threshold(None, groups="day")
    (2.0, 0.0)

    References
    ----------
    Gibbs and Candes, "Adaptive Conformal Inference Under Distribution Shift", NeurIPS 2021, in the
    groups of Vovk, Lindsay, Nouretdinov and Gammerman, "Mondrian Confidence Machine", 2003.
    """

    learns_from: ClassVar[frozenset[str]] = frozenset({"score", "groups"})

    def __init__(
        self,
        alpha: float,
        gamma: float = 0.005,
        window: int = 1250,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.gamma, self.window = gamma, window
        self._new = self._make()  # also checks the settings
        self._groups: dict[frozenset[Hashable], ACI] = {}

    def _make(self) -> ACI:
        return ACI(self._target, self.gamma, self.window, initial_threshold=self.initial_threshold)

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._groups.get(frozenset(groups), self._new).threshold(None)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        key = frozenset(groups)
        if key not in self._groups:
            self._groups[key] = self._make()
        self._groups[key].update(None, loss, score)
