"""Journal: what a call does with each of several calibrators, so that none is left behind.

An interrupt (Ctrl-C, no memory) may come after some calibrators have learned from a row and before
others have. The journal then keeps what is left to do, and the next call does it first. What
follows from the rows beside the calibrators, such as counts, is worked out before anything of it
changes, and then kept as changes that may be made twice: an interrupt between them does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from localarc.calibrators.auto import LabelSets
from localarc.calibrators.role import OnlineCalibrator

T = TypeVar("T")
Change = Callable[[], object]
"""Changes something, to the same if it is called again."""

Learner: TypeAlias = OnlineCalibrator | LabelSets
"""What learns from rows."""


@dataclass(frozen=True)
class Step:
    """What one calibrator does with the rows of a call: `run(start)`, from row `start` on."""

    calibrator: Learner
    rows: int
    run: Callable[[int], None]
    issued: int  # before the call
    pending: int

    @classmethod
    def of(cls, calibrator: Learner, rows: int, run: Callable[[int], None]) -> Step:
        """A step that has not begun."""
        return cls(calibrator, rows, run, calibrator.issued, calibrator.pending_count)

    @property
    def done(self) -> int:
        """How many rows the calibrator is through with: each adds or closes one ticket."""
        issued, pending = self.calibrator.issued, self.calibrator.pending_count
        return max(issued - self.issued, self.pending - pending)


@dataclass(frozen=True)
class Work(Generic[T]):
    """The steps of a call, and what they yield: `result()`, once all are taken."""

    steps: Sequence[Step]
    result: Callable[[], T]


class Journal:
    """The call that is under way, or that was interrupted."""

    _steps: Sequence[Step]
    _end: Callable[[], Sequence[Change]] | None
    _changes: Sequence[Change] | None

    def __init__(self) -> None:
        self.clear()

    def run(self, steps: Sequence[Step], end: Callable[[], Sequence[Change]] | None = None) -> None:
        """Take all steps, in order, and make the changes that `end` then finds.

        `end` changes nothing itself: after an interrupt it is called again.
        """
        self._steps, self._end, self._changes = steps, end, None
        self.finish()

    def finish(self) -> None:
        """Do what is left of the call."""
        for step in self._steps:
            done = step.done
            if done < step.rows:
                step.run(done)
        if self._changes is None and self._end is not None:
            self._changes = self._end()
        for change in self._changes or ():
            change()

    def conclude(self, changes: Sequence[Change]) -> None:
        """Make the changes of a call whose steps had no end."""
        self._changes = changes
        self.finish()

    @property
    def is_empty(self) -> bool:
        """Whether no call is under way."""
        return not self._steps

    @property
    def has_begun(self) -> bool:
        """Whether a calibrator has changed, or anything beside them."""
        return self._changes is not None or any(step.done for step in self._steps)

    def clear(self) -> None:
        """The call is over."""
        self._steps, self._end, self._changes = (), None, None
