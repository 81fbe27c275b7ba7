"""A lock between processes, which the system releases if its holder dies."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
import weakref

_PAUSE = 5e-5  # seconds


class SharedLock:
    """Excludes other processes that have it from a fork, not other threads of the same one.

    A process that is stopped while it holds the lock must not stop all others: `with` gives up
    after some time, and says whether it has the lock.

    >>> with SharedLock(1.0) as locked:
    ...     locked
    True
    """

    def __init__(self, seconds: float) -> None:
        self._file, path = tempfile.mkstemp(prefix="localarc-lock-")
        os.unlink(path)  # forked processes have it open
        weakref.finalize(self, os.close, self._file)
        self._seconds = seconds
        self._locked = False

    def __enter__(self) -> bool:
        until = 0.0
        while not self._try():
            until = until or time.monotonic() + self._seconds
            if time.monotonic() > until:
                break
            time.sleep(_PAUSE)
        return self._locked

    def _try(self) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._locked = True
        except (BlockingIOError, PermissionError):
            self._locked = False
        return self._locked

    def __exit__(self, *_: object) -> None:
        if self._locked:
            self._locked = False
            fcntl.lockf(self._file, fcntl.LOCK_UN)
