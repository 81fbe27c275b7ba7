"""One thread at a time: a second one gets an error, instead of half of a state."""

from __future__ import annotations

import threading
from typing import Any, Self


class Turn:
    """A lock that a copy of its owner does not share."""

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Turn], tuple[()]]:
        return Turn, ()


class Exclusive:
    """An object that only one thread at a time may be inside."""

    _turn: Turn

    def __new__(cls, *arguments: Any, **more: Any) -> Self:
        """A new object, with no call in progress."""
        new = super().__new__(cls)
        new._turn = Turn()
        return new

    def _exclusive(self) -> threading.Lock:
        """The lock to hold inside; raises if it is held.

        A lock is released wherever an interrupt (Ctrl-C) arrives: it is entered and left without
        Python code, and hence without a place where CPython would handle a signal.
        """
        lock = self._turn.lock
        if lock.locked():
            raise in_use()
        return lock


def in_use() -> RuntimeError:
    """The error for a call while another thread is inside."""
    return RuntimeError(
        "the calibrator is in use by another thread. Use one calibrator per thread, or a lock."
    )
