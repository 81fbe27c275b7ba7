"""Journal: what a call does with each of several calibrators, so that none is left behind.

An interrupt (Ctrl-C, no memory) may come after some calibrators have learned from a row and before
others have. The journal then keeps what is left to do, and the next call does it first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from localarc.engine.auto import layout


@dataclass(frozen=True)
class Step:
    """What one calibrator does with the rows of a call: `run(start)`, from row `start` on."""

    calibrator: Any
    rows: int
    run: Callable[[int], None]
    issued: float  # before the call
    pending: float

    @classmethod
    def of(cls, calibrator: Any, rows: int, run: Callable[[int], None]) -> Step:
        """A step that has not begun."""
        return cls(calibrator, rows, run, *_counts(calibrator))

    @property
    def done(self) -> int:
        """How many rows the calibrator is through with: each adds or closes one ticket."""
        issued, pending = _counts(self.calibrator)
        return int(max(issued - self.issued, self.pending - pending))


class Journal:
    """The steps of the call that is under way, or that was interrupted."""

    def __init__(self) -> None:
        self._steps: Sequence[Step] = ()

    def run(self, steps: Sequence[Step]) -> None:
        """Take all steps, in order."""
        self._steps = steps
        self.finish()

    def finish(self) -> None:
        """Take what is left of the steps."""
        for step in self._steps:
            done = step.done
            if done < step.rows:
                step.run(done)

    @property
    def is_empty(self) -> bool:
        """Whether no call is under way."""
        return not self._steps

    @property
    def has_begun(self) -> bool:
        """Whether a calibrator has changed."""
        return any(step.done for step in self._steps)

    def clear(self) -> None:
        """The call is over."""
        self._steps = ()


def _counts(calibrator: Any) -> tuple[float, float]:
    """How many thresholds went out, and how many of them are pending."""
    engine = calibrator._engine
    if engine is None:
        return 0.0, 0.0
    return float(engine.numbers[layout.ISSUED]), float(engine.numbers[layout.PENDING])
