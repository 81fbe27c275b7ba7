"""What our calibrators have in common: many losses at once, files, copies, all or nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.checkpoints import UnchangedOnFailure
from localarc.calibrators.role import Point, Points
from localarc.calibrators.storable import Storable
from localarc.calibrators.tickets import Ticket
from localarc.guarantees import Evidence
from localarc.memory.base import LossCurves
from localarc.validation import FloatArray

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of rounds just done."""


class BaseCalibrator(Storable, ABC):
    """What ARC, LARC, Mondrian, AutoLARC and Safeguard share: each is an `OnlineCalibrator`."""

    alpha: float
    learns_from: frozenset[str] = frozenset()

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The number of losses learned from."""

    @property
    @abstractmethod
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""

    @overload
    @abstractmethod
    def threshold(self, x: Points, groups: Any = ...) -> FloatArray: ...
    @overload
    @abstractmethod
    def threshold(self, x: Point, groups: Any = ...) -> float: ...
    @abstractmethod
    def threshold(self, x: Point | Points, groups: Any = ()) -> float | FloatArray:
        """The threshold for one input, or n thresholds for n inputs; changes nothing."""

    @abstractmethod
    def update(self, x: Point, loss: float, score: Any = None, groups: Any = ()) -> Self:
        """Learn from the loss of one round: `ask` and `tell` at once."""

    @abstractmethod
    def ask(self, x: Point, groups: Any = ()) -> Ticket:
        """The threshold for one input, with a ticket for its loss, which may come late."""

    @abstractmethod
    def tell(self, ticket: Ticket | int, loss: float, score: float | None = None) -> Self:
        """Learn from the loss of a ticket, in any order."""

    @abstractmethod
    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known, as if step by step."""

    def points_of(self, X: ArrayLike | None, rounds: int) -> FloatArray:
        """The inputs of this many rounds, as `replay_curves` expects them."""
        return validation.points(X)  # type: ignore[arg-type]  # which rejects None

    @property
    @abstractmethod
    def threshold_function(self) -> Callable[..., Any]:
        """The threshold function of the next round; later updates do not change it."""

    @property
    @abstractmethod
    def averaged_threshold_function(self) -> Callable[..., Any]:
        """The time average of the threshold functions of all rounds so far."""

    @abstractmethod
    def certificate(
        self,
        *,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Any:
        """What is guaranteed about the mean loss, and under which assumptions."""

    @abstractmethod
    def reset(self) -> Self:
        """Forget everything learned."""

    @abstractmethod
    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings."""

    @abstractmethod
    def checkpoint(self) -> Any:
        """A copy of everything learned, for `rollback`."""

    @abstractmethod
    def rollback(self, checkpoint: Any) -> None:
        """Forget what was learned since the checkpoint."""

    def partial_fit(
        self,
        X: ArrayLike | None,
        losses: ArrayLike,
        scores: ArrayLike | None = None,
        groups: Sequence[Any] | None = None,
    ) -> Self:
        """Learn from many losses, in order; from all of them or, if one is invalid, from none.

        Parameters
        ----------
        X : array of shape (n, d) or None
            The inputs, in chronological order; None for a calibrator that ignores inputs.
        losses : array of shape (n,)
            The loss of each round.
        scores : array of shape (n,), optional
            The score of each round, as in `update`.
        groups : sequence of n groups, optional
            The groups of each round, as in `update`.
        """
        costs = validation.numbers("losses", losses).reshape(-1).tolist()
        rows = self.points_of(X, len(costs))
        validation.per_round("losses", costs, len(rows))
        known: dict[str, list[Any]] = {}
        if scores is not None:
            known["score"] = validation.per_round("scores", scores, len(rows))
        if groups is not None:
            known["groups"] = validation.per_round("groups", groups, len(rows))
        with self.unchanged_on_failure():
            for t, (x, loss) in enumerate(zip(rows, costs, strict=True)):
                try:
                    self.update(x, loss, **{name: values[t] for name, values in known.items()})
                except (TypeError, ValueError) as error:
                    error.add_note(f"in row {t}, counted from 0; nothing was learned.")
                    raise
        return self

    def unchanged_on_failure(self) -> UnchangedOnFailure:
        """Forget what is learned inside if anything fails inside."""
        return UnchangedOnFailure(self)


@dataclass(frozen=True)
class ThresholdFunction:
    """A threshold for every input: a local part, clipped where a clip is set, plus a constant.

    Parameters
    ----------
    constant : float
        The part that is the same for all inputs.
    local : callable or None, default None
        The local part, from (n, d) points to (n,) numbers; None if there is none.
    dimension : int or None, default None
        The number of features that the local part expects.
    clip : float or None, default None
        The local part is kept within [-clip, clip].

    Examples
    --------
    >>> ThresholdFunction(0.5, local=lambda X: X[:, 0], clip=1.0)([[0.2], [3.0]])
    array([0.7, 1.5])
    """

    constant: float
    local: Callable[[FloatArray], FloatArray] | None = None
    dimension: int | None = None
    clip: float | None = None

    @overload
    def __call__(self, x: Points) -> FloatArray: ...
    @overload
    def __call__(self, x: Point) -> float: ...
    def __call__(self, x: Any) -> float | FloatArray:
        """The threshold for one input, or n thresholds for an (n, d) array."""
        single = validation.is_single(x)
        if self.local is None:
            return self.constant if single else np.full(len(np.asarray(x)), self.constant)
        points = (
            validation.point(x, self.dimension)[None]
            if single
            else validation.points(x, self.dimension)
        )
        values = self.constant + clip_local(self.local(points), self.clip)
        return float(values[0]) if single else values


def clip_local(local: FloatArray, clip: float | None) -> FloatArray:
    """The local part, kept within [-clip, clip] if there is a clip."""
    return local if clip is None else np.clip(local, -clip, clip)
