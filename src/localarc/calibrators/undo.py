"""Undo: how to take back what a call has changed so far, so that it changes all or nothing.

Each change is noted before it is made. Steps restore what was, so that taking one twice does no
harm: if an interrupt (Ctrl-C) divides the undoing itself, it is begun again by the next call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class Undo:
    """The changes of the call that is under way, or that was interrupted.

    Examples
    --------
    >>> undo, numbers = Undo(), {"a": 1}
    >>> def change() -> None:
    ...     undo.note(numbers.__setitem__, "a", 1)
    ...     numbers["a"] = 2
    ...     raise KeyboardInterrupt
    >>> try:
    ...     undo.unless_done(change)
    ... except KeyboardInterrupt:
    ...     print(numbers)
    {'a': 1}
    """

    __slots__ = ("_inside", "_steps")

    def __init__(self) -> None:
        self._steps: list[Callable[[], object]] = []
        self._inside = False

    def __reduce__(self) -> tuple[type[Undo], tuple[()]]:
        return Undo, ()  # a copy has no part in the call that is under way

    def note(self, step: Callable[..., Any], *arguments: Any) -> None:
        """What restores a thing that is about to be changed; ignored outside of a call."""
        if self._inside:
            self._steps.append(partial(step, *arguments))

    def unless_done(self, call: Callable[[], T]) -> T:
        """Make a call; what it has noted is taken back if it does not end.

        A call inside another is part of that one.
        """
        if self._inside:
            return call()
        self._inside = True
        try:
            self.roll_back()
            result = call()
            self._steps.clear()  # from here on, the call is done
            return result
        except BaseException:
            self.roll_back()
            raise
        finally:
            self._inside = False

    def roll_back(self) -> None:
        """Take back what was noted, the latest change first."""
        while self._steps:
            self._steps[-1]()
            del self._steps[-1]
