"""The role of a peer: a published method with the members of a `Calibrator`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias, overload

import numpy as np

from localarc import validation
from localarc.calibrators.role import Point, Points
from localarc.validation import FloatArray

Memberships: TypeAlias = Mapping[Hashable, float]
"""The groups of a round, with a weight for each."""

Groups: TypeAlias = Hashable | Sequence[Hashable] | Mapping[Any, float] | None
"""The groups of a round as a caller states them: one, several, or with weights."""


class Peer(ABC):
    """What all peers have in common: checked input, and losses as shares of the largest loss."""

    learns_from: ClassVar[frozenset[str]] = frozenset({"score"})
    _reads_inputs: ClassVar[bool] = False

    def __init__(self, alpha: float, loss_bound: float, initial_threshold: float) -> None:
        self.loss_bound = validation.positive(
            "loss_bound", loss_bound, "It is the largest possible loss, e.g. 1.0."
        )
        self.alpha = validation.target(alpha, self.loss_bound)
        self.initial_threshold = validation.finite(
            "initial_threshold", initial_threshold, "It is in the units of the score, e.g. 0.0."
        )
        self.rounds = 0
        self._target = self.alpha / self.loss_bound
        self._dimension: int | None = None

    def __repr__(self) -> str:
        known = {name: value for name, value in vars(self).items() if name[0] != "_"}
        shared = {name: known.pop(name) for name in ("loss_bound", "initial_threshold", "rounds")}
        settings = ", ".join(f"{name}={_short(value)}" for name, value in (known | shared).items())
        return f"{type(self).__name__}({settings})"

    @overload
    def threshold(self, x: Points, groups: Sequence[Groups] | None = None) -> FloatArray: ...
    @overload
    def threshold(self, x: Point, groups: Groups = None) -> float: ...
    def threshold(self, x: Point | Points, groups: Any = None) -> float | FloatArray:
        """The threshold for one input, or n thresholds for n inputs; changes nothing.

        Parameters
        ----------
        x : array of shape (d,) or (n, d), or None
            The features of one input, or of n inputs; None for a method that ignores inputs.
        groups : hashable, list, set or mapping, optional
            The groups of the input, or a list with those of each of n inputs.
        """
        if x is None or validation.is_single(x):
            return float(self._threshold(self._point(x), memberships(groups)))
        rows = np.asarray(x)
        each = [None] * len(rows) if groups is None else groups
        mine = validation.per_round("groups", each, len(rows))
        return np.array([self.threshold(x, g) for x, g in zip(rows, mine, strict=True)])

    def update(
        self, x: Point, loss: float, score: float | None = None, groups: Groups = None
    ) -> Self:
        """Learn from one round.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input of the round.
        loss : float
            The loss of the set that the threshold made, in [0, `loss_bound`].
        score : float
            The smallest threshold whose loss would have been at most alpha; it may be infinite.
        groups : hashable, list, set or mapping, optional
            The groups of the input.
        """
        point, members = self._point(x), memberships(groups)
        share = validation.loss(loss, self.loss_bound) / self.loss_bound
        number = self._score(score)
        self._dimension = None if point is None else len(point)
        self._learn(point, share, number, members)
        self.rounds += 1
        return self

    @abstractmethod
    def _threshold(self, point: FloatArray | None, groups: Memberships) -> float:
        """The threshold for one input."""

    @abstractmethod
    def _learn(
        self, point: FloatArray | None, loss: float, score: float, groups: Memberships
    ) -> None:
        """Learn from a loss in [0, 1] and a score."""

    def _point(self, x: Any) -> FloatArray | None:
        return validation.point(x, self._dimension) if self._reads_inputs else None

    def _score(self, score: Any) -> float:
        hint = "It is the smallest threshold whose loss is at most alpha; replay passes it."
        if score is None and "score" in self.learns_from:
            raise TypeError(f"{type(self).__name__} requires the score of the round. {hint}")
        number = math.nan if score is None else validation.real("score", score, hint)
        if score is not None and math.isnan(number):
            raise ValueError(f"score must be a number or infinite, got {score!r}. {hint}")
        return number


def memberships(groups: Any) -> Memberships:
    """Return the groups of one round with their weights; none for None.

    >>> dict(memberships(["north", "night"])), dict(memberships("north"))
    ({'north': 1.0, 'night': 1.0}, {'north': 1.0})
    """
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        hint = "A weight lies between 0 and 1."
        weights = {g: validation.not_negative("a weight", w, hint) for g, w in groups.items()}
        return {group: weight for group, weight in weights.items() if weight > 0.0}
    return dict.fromkeys(validation.labels(groups), 1.0)


def _short(value: object) -> str:
    """A setting as text; of many numbers, the first and the last."""
    if isinstance(value, tuple) and len(value) > 3:
        return f"({value[0]}, ..., {value[-1]})"
    return repr(value)
