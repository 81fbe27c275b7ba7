"""The role of a calibrator: a threshold now, an update when the loss is known."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from localarc import atomic_write, serialization, validation
from localarc.algorithms import Algorithm
from localarc.guarantees import Certificate, Evidence
from localarc.memory.base import LossCurves
from localarc.validation import FloatArray

Point: TypeAlias = float | Sequence[float] | np.ndarray[tuple[int], np.dtype[Any]] | None
"""One input: its d features, or None for a calibrator that ignores inputs."""

Points: TypeAlias = Sequence[Sequence[float]] | np.ndarray[tuple[int, int], np.dtype[Any]]
"""Many inputs: n rows of d features."""

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of rounds just done."""


@runtime_checkable
class Calibrator(Protocol):
    """Anything that returns a threshold for an input and is updated with the loss that followed.

    These three members are all that `replay`, `Mondrian` and `check_calibrator` require. A
    calibrator that wants more than the loss says so in an attribute `learns_from`, a set with any
    of `"groups"`, `"score"` and `"curve"`; it then receives these as further keywords of `update`
    (`groups` also of `threshold`).

    Examples
    --------
    >>> class Fixed:
    ...     alpha = 0.1
    ...     def threshold(self, x):
    ...         return 0.7
    ...     def update(self, x, loss):
    ...         return self
    >>> isinstance(Fixed(), Calibrator)
    True
    """

    @property
    def alpha(self) -> float:
        """The target: the average loss that is accepted in the long run."""

    @property
    def threshold(self) -> Callable[..., Any]:
        """The threshold for one input, or n thresholds for n inputs; changes nothing."""

    @property
    def update(self) -> Callable[..., Any]:
        """Learn from the loss of one round."""


_LESSONS = frozenset({"groups", "score", "curve"})


def require_calibrator(calibrator: object) -> None:
    """Raise unless an object is a calibrator that wants no more than there is to learn from."""
    if isinstance(calibrator, type) or not isinstance(calibrator, Calibrator):
        raise TypeError(
            f"calibrator must be an object with alpha, threshold and update, got {calibrator!r}. "
            "For example ARC(alpha=0.1)."
        )
    wanted = getattr(calibrator, "learns_from", ())
    if isinstance(wanted, str) or not _LESSONS.issuperset(wanted):
        raise ValueError(
            f"learns_from must be a set with any of {sorted(_LESSONS)}, got {wanted!r}. It names "
            "the keywords that update receives beside the loss."
        )


@runtime_checkable
class Resumable(Calibrator, Protocol):
    """A calibrator whose state can be stored, and resumed bit for bit.

    Examples
    --------
    >>> from localarc import ARC
    >>> isinstance(ARC(alpha=0.1), Resumable)
    True
    """

    def state(self) -> bytes:
        """The complete calibrator, for storage."""

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings."""


class BaseCalibrator(ABC):
    """What ARC, LARC and Mondrian have in common, beyond a `Calibrator`."""

    alpha: float
    learns_from: frozenset[str] = frozenset()
    algorithm = Algorithm()

    @property
    @abstractmethod
    def rounds(self) -> int:
        """The number of losses learned from."""

    @property
    @abstractmethod
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in this run without an error, each with the number to change."""
        return ()

    @overload
    @abstractmethod
    def threshold(self, x: Points) -> FloatArray: ...
    @overload
    @abstractmethod
    def threshold(self, x: Point) -> float: ...
    @abstractmethod
    def threshold(self, x: Point | Points) -> float | FloatArray:
        """The threshold for one input, or n thresholds for n inputs; changes nothing."""

    @abstractmethod
    def update(self, x: Point, loss: float) -> Self:
        """Learn from the loss of one round."""

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
        pending: int | None = None,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """What is guaranteed about the mean loss, and under which assumptions."""

    @abstractmethod
    def reset(self) -> Self:
        """Forget everything learned."""

    @abstractmethod
    def state(self) -> bytes:
        """The complete calibrator, for storage."""

    @classmethod
    @abstractmethod
    def from_state(cls, data: bytes) -> Self:
        """The calibrator whose `state` this was."""

    @abstractmethod
    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings."""

    @abstractmethod
    def checkpoint(self) -> Any:
        """A copy of everything learned, for `rollback`."""

    @abstractmethod
    def rollback(self, checkpoint: Any) -> None:
        """Forget what was learned since the checkpoint."""

    def _latest_ticket(self) -> int:
        """The number of the latest ticket, 0 if there is none."""
        return 0

    def _is_pending(self, number: int) -> bool:
        """Whether a ticket of this calibrator is pending."""
        return False

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, completely or not at all.

        Parameters
        ----------
        path : path
            The file to write; its folder must exist.
        """
        atomic_write.write(path, self.state())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **functions: object) -> Self:
        """Read a file written by `save`.

        Parameters
        ----------
        path : path
            The file to read.
        **functions : callable
            Functions that were part of the calibrator (a user's kernel, rate or `group_of`), by
            the name of their parameter: functions are not stored.
        """
        data = serialization.read(path)
        try:
            return cls.from_state(data, **functions)  # what a subclass needs
        except serialization.StateError as error:
            raise serialization.StateError(f"{path}: {error}") from error

    def partial_fit(self, X: ArrayLike, losses: ArrayLike) -> Self:
        """Learn from many losses, in order; from all of them or, if one is invalid, from none.

        Parameters
        ----------
        X : array of shape (n, d)
            The inputs, in chronological order.
        losses : array of shape (n,)
            The loss of each round.
        """
        return self._learn_rows(X, losses, None)

    def _learn_rows(
        self, X: ArrayLike, losses: ArrayLike, groups: Sequence[Hashable] | None
    ) -> Self:
        rows, costs = validation.points(X), validation.numbers("losses", losses).reshape(-1)
        if len(rows) != len(costs):
            raise ValueError(
                f"losses must have one number per row of X, got {len(costs)} for {len(rows)} rows."
            )
        with self.unchanged_on_failure():
            for t, (x, loss) in enumerate(zip(rows, costs.tolist(), strict=True)):
                more = {} if groups is None else {"groups": groups[t]}
                try:
                    self.update(x, loss, **more)
                except (TypeError, ValueError) as error:
                    error.add_note(f"in row {t}, counted from 0; nothing was learned.")
                    raise
        return self

    def unchanged_on_failure(self) -> UnchangedOnFailure:
        """Forget what is learned inside if anything fails inside."""
        return UnchangedOnFailure(self)

    def __copy__(self) -> Self:
        """A separate calibrator: nothing that was learned is shared."""
        return copy.deepcopy(self)


class UnchangedOnFailure:
    """Forget what a calibrator learned inside if anything fails inside.

    It is no generator: an interrupt (Ctrl-C) could leave that half-way, and Python would run its
    rest, which forgets, when it drops the generator: at any later time.
    """

    def __init__(self, calibrator: BaseCalibrator) -> None:
        self._calibrator = calibrator

    def __enter__(self) -> None:
        self._before = self._calibrator.checkpoint()

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            self._calibrator.rollback(self._before)


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
