"""GCACI: one part of the threshold per group, all of them moved by every loss of the group."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from localarc import validation
from localarc.validation import FloatArray
from localarc_lab.peers.base import Memberships, Peer
from localarc_lab.peers.first_rounds import CALIBRATION, FirstRounds, largest, scale_setting

EVERYONE = "everyone"
"""The group of all rounds; no group of a caller has this name, since theirs are tagged."""


class GCACI(Peer):
    """Group-conditional ACI: the threshold is the sum of a part for everyone and for each group.

    With c the memberships of a round, the threshold is `<theta, c>` and
    `theta += rate scale (loss - alpha) c`. Groups may overlap, and memberships may have weights.

    Parameters
    ----------
    alpha : float
        The target: the mean loss that is accepted, in every group.
    rate : float, default 0.1
        Step in units of the scale. The paper states none; Bharti et al. compare with 0.01 to 1.
    scale : float or None, default None
        Units of the score. None is the largest score of the first `calibration` rounds, whose
        thresholds are those of split conformal prediction.
    calibration : int, default 150
        Number of rounds that fix the scale.
    loss_bound : float, default 1.0
        The largest possible loss.
    initial_threshold : float, default 0.0
        The threshold before the first score.

    Examples
    --------
    >>> cal = GCACI(alpha=0.1, scale=1.0)
    >>> _ = cal.update(None, loss=1.0, score=2.0, groups="night")
    >>> round(cal.threshold(None, groups="night"), 2), round(cal.threshold(None), 2)
    (0.18, 0.09)

    References
    ----------
    Ramalingam, Kiyani and Roth, "The Relationship between No-Regret Learning and Online Conformal
    Prediction", ICML 2025, algorithm 2, with the group of all rounds.
    """

    learns_from: ClassVar[frozenset[str]] = frozenset({"score", "groups"})

    def __init__(
        self,
        alpha: float,
        rate: float = 0.1,
        scale: float | None = None,
        calibration: int = CALIBRATION,
        *,
        loss_bound: float = 1.0,
        initial_threshold: float = 0.0,
    ) -> None:
        super().__init__(alpha, loss_bound, initial_threshold)
        self.rate = validation.positive("rate", rate, "It is a part of the scale of the scores.")
        self.scale = scale_setting(scale)
        self._first = FirstRounds(calibration, self.initial_threshold)
        self.calibration = self._first.size
        self._members: list[Memberships] = []
        self._unit = self.scale
        self._parts: dict[Hashable, float] = {}

    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        return self._sum(groups) if self._unit else self._first.threshold(self._target)

    def _sum(self, groups: Memberships) -> float:
        parts = (self._parts.get(g, 0.0) * w for g, w in with_everyone(groups).items())
        return self.initial_threshold + sum(parts)

    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        if self._unit:
            self._step(loss, groups)
            return
        self._first.add(score)
        self._members.append(groups)
        if self._first.complete:
            self._unit = self._first.measure(largest)
            for known, mine in zip(self._first.scores, self._members, strict=True):
                self._step(float(known > self._sum(mine)), mine)
            self._members.clear()

    def _step(self, loss: float, groups: Memberships) -> None:
        push = self.rate * (self._unit or 1.0) * (loss - self._target)
        for group, weight in with_everyone(groups).items():
            self._parts[group] = self._parts.get(group, 0.0) + push * weight


def with_everyone(groups: Memberships) -> dict[Hashable, float]:
    """Return memberships with the group of all rounds added.

    >>> with_everyone({"night": 1.0})
    {'everyone': 1.0, ('group', 'night'): 1.0}
    """
    members: dict[Hashable, float] = {EVERYONE: 1.0}
    members.update((("group", group), weight) for group, weight in groups.items())
    return members
