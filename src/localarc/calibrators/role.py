"""The role of a calibrator: what it offers to whatever carries it.

`Calibrator` is the least: a threshold now, an update when the loss is known. `OnlineMethod` is what
can be stored, listed and watched without knowing its rounds: counts, promise and state.
`OnlineCalibrator` is both, with tickets for losses that come late: services, panels and models
hold any such object.

Two methods are an `OnlineMethod` and no `OnlineCalibrator`, because a round of theirs has no single
threshold with a loss: `Gate` decides about an answer (`decide`, `tell`), and `LabelSets` has a
threshold for each label and learns which label was true (`ask` and `tell` with scores and labels).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from localarc.calibrators.tickets import Ticket

Point: TypeAlias = float | Sequence[float] | np.ndarray[tuple[int], np.dtype[Any]] | None
"""One input: its d features, or None for a calibrator that ignores inputs."""

Points: TypeAlias = Sequence[Sequence[float]] | np.ndarray[tuple[int, int], np.dtype[Any]]
"""Many inputs: n rows of d features."""

Groups: TypeAlias = Hashable | Sequence[Hashable] | Set[Hashable] | Mapping[Any, float]
"""The groups of one round: one label; a list or set of labels; or {label: weight}."""


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


class SettingsLike(Protocol):
    """What was fixed when an object was made; `type(settings).from_json` reads it again."""

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON."""


@runtime_checkable
class OnlineMethod(Protocol):
    """Anything learned online that counts its rounds, proves its promise and can be stored.

    ARC, LARC, AutoLARC, Safeguard, Mondrian, LabelSets and Gate.

    Examples
    --------
    >>> from localarc import ARC, Gate
    >>> isinstance(ARC(alpha=0.1), OnlineMethod), isinstance(Gate(wrong_at_most=0.1), OnlineMethod)
    (True, True)
    """

    @property
    def alpha(self) -> float:
        """The target: the average loss that is accepted in the long run."""

    @property
    def settings(self) -> SettingsLike:
        """What was fixed when it was made."""

    @property
    def rounds(self) -> int:
        """The number of rounds learned from."""

    @property
    def loss_sum(self) -> float:
        """The sum of the losses learned from; after a `restart`, of those since."""

    @property
    def nbytes(self) -> int:
        """The size of what it stores of places and groups, in bytes."""

    @property
    def pending(self) -> Sequence[Any]:
        """The tickets whose loss is still to come, in the order in which they were issued."""

    @property
    def pending_count(self) -> int:
        """Their number."""

    @property
    def consistent(self) -> bool:
        """Whether thresholds follow from the losses that were counted: none lost, none twice."""

    def forget(self, ticket: Any, /) -> Self:
        """Stop waiting for the loss of a ticket: it will never be known."""

    def problems(self) -> list[str]:
        """What goes wrong without an error, each in a sentence with the number to change."""

    def certificate(self) -> Any:
        """What is guaranteed about the mean loss, and under which assumptions."""

    def reset(self) -> Self:
        """Forget everything learned."""

    def state(self) -> bytes:
        """Everything that was learned, for `from_state` and `restore`."""

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings."""


@runtime_checkable
class OnlineCalibrator(OnlineMethod, Protocol):
    """A calibrator with tickets, counts, a promise and a state.

    ARC, LARC, AutoLARC, Safeguard, Mondrian, and the calibrator of a panel's key. Groups and scores
    may always be passed, except groups to a Mondrian that finds them itself; `learns_from` says
    whether they are used. `localarc.testing.check_online_calibrator` checks one of your own.

    Examples
    --------
    >>> from localarc import ARC, AutoLARC
    >>> for cal in (ARC(alpha=0.1), AutoLARC(alpha=0.1)):
    ...     ticket = cal.ask([0.0], groups="left")
    ...     cal = cal.tell(ticket, loss=1.0, score=0.7)
    ...     print(isinstance(cal, OnlineCalibrator), cal.rounds, cal.loss_sum, cal.consistent)
    True 1 1.0 True
    True 1 1.0 True
    """

    @property
    def learns_from(self) -> frozenset[str]:
        """What it uses beside the loss: any of `"groups"` and `"score"`."""

    @property
    def issued(self) -> int:
        """The number of tickets that were ever issued."""

    def threshold(self, x: Any, groups: Any = ...) -> Any:
        """The threshold for one input, or n thresholds for n inputs; changes nothing."""

    def update(self, x: Any, loss: float, score: float | None = None, groups: Any = ...) -> Self:
        """Learn from the loss of one round: `ask` and `tell` at once."""

    def ask(self, x: Any, groups: Any = ...) -> Ticket:
        """The threshold for one input, with a ticket for its loss, which may come late."""

    def tell(self, ticket: Ticket | int, loss: float, score: float | None = None) -> Self:
        """Learn from the loss of a ticket, in any order."""
