"""Whole calls: each changes everything or nothing, wherever an interrupt (Ctrl-C) arrives.

The bettors change in one compiled call, which no interrupt divides. What a call changes besides is
written down before, so that the next call can make up for what an interrupt left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from localarc.calibrators.exclusive import Exclusive
from localarc.calibrators.gate.bettors import GateBettors

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Update:
    """New values in a dictionary, and keys that leave it; to apply it twice is to apply it once."""

    where: dict[Any, Any]
    new: Mapping[Any, Any]
    gone: tuple[Any, ...] = ()

    def apply(self) -> None:
        """Change the dictionary."""
        self.where.update(self.new)
        for key in self.gone:
            self.where.pop(key, None)


@dataclass(frozen=True, slots=True)
class Begun:
    """A call under way: the bettors' counts before it, and what else it changes."""

    counts: tuple[float, ...] | None  # None: the bettors do not change
    updates: Sequence[Update]


class Transactions(Exclusive):
    """Bettors, dictionaries beside them, and calls that change both or neither."""

    _bettors: GateBettors
    _begun: Begun | None

    def _alone(self, call: Callable[[], T]) -> T:
        """Make a call, after what an interrupted one left; raise if another thread is inside."""
        with self._exclusive():
            if self._begun is not None:
                self._finish(self._begun)
            return call()

    def _change(
        self, updates: Sequence[Update], bettors: Callable[[], object] | None = None
    ) -> None:
        """Take a step of the bettors, if there is one, and make the updates."""
        begun = Begun(self._bettors.counts if bettors else None, updates)
        self._begun = begun
        if bettors:
            bettors()
        self._finish(begun)

    def _become(self, other: Self) -> Self:
        """Take over everything, in a step that no interrupt divides."""
        new = vars(other) | {"_turn": self._turn, "_begun": None}
        self._alone(lambda: self.__dict__.update(new))
        return self

    def __getstate__(self) -> dict[str, Any]:
        """For copies: nothing is under way in them."""
        return self._alone(lambda: dict(vars(self)))

    def _finish(self, begun: Begun) -> None:
        """Make the updates, unless the bettors never took their step."""
        self._bettors.settle()
        if begun.counts != self._bettors.counts:
            for update in begun.updates:
                update.apply()
        self._begun = None
