"""The streams of a panel by row: what a panel requires of them, for any calibrator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

from numpy.typing import ArrayLike

from localarc.calibrators.tickets import Ticket
from localarc.calibrators.undo import Undo
from localarc.many.panel.kinds import Prototype as Prototype
from localarc.many.panel.late import Answers, LateEvents
from localarc.many.panel.state import StoredPanel
from localarc.memory.base import Arrays
from localarc.validation import FloatArray, IntArray


class Streams(Protocol):
    """One stream per row. Rows of new keys follow the last one, in order; -1 is an unknown key.

    Calls that learn apply all events or none.
    """

    prototype: Any
    ignores_inputs: bool
    undo: Undo
    """Where calls note what they change, so that the panel's call changes all or nothing."""

    @property
    def dimension(self) -> int | None:
        """The number of features, once known."""

    def points(self, X: ArrayLike | None, count: int) -> FloatArray:
        """The inputs of that many events, validated; without columns where they are ignored."""

    def thresholds(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """The threshold of each event; changes nothing."""

    def learn(
        self, rows: IntArray, points: FloatArray, losses: FloatArray, scores: ArrayLike | None
    ) -> None:
        """Learn the loss of each event, in order."""

    def ask(self, rows: IntArray, points: FloatArray) -> list[Ticket]:
        """A ticket with a threshold for each event, in order."""

    def tell(
        self,
        rows: IntArray,
        tickets: Sequence[Ticket | int],
        losses: FloatArray,
        scores: ArrayLike | None,
    ) -> None:
        """Learn the loss of each ticket, in order."""

    def serve(self, rows: IntArray, events: LateEvents) -> Answers:
        """Thresholds that go out and losses that come in, in order."""

    def calibrator(self, row: int) -> Any:
        """A separate copy of one stream's calibrator."""

    def put(self, row: int, calibrator: Any) -> None:
        """Replace a stream, or add one."""

    def keep(self, rows: IntArray) -> None:
        """Drop all rows but these, which are renumbered from 0."""

    @property
    def rounds(self) -> IntArray:
        """How many losses each stream has learned."""

    @property
    def risks(self) -> FloatArray:
        """The mean loss of each stream, NaN before the first."""

    @property
    def constants(self) -> FloatArray:
        """The constant of each stream, where there is one."""

    @property
    def nbytes(self) -> int:
        """The size of the learned state in bytes."""

    def arrays(self) -> Arrays:
        """Everything needed to resume, bit for bit."""

    def resume(self, stored: StoredPanel) -> Self:
        """The streams that were stored; raises ValueError if they make no sense."""
