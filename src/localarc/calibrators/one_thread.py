"""One thread at a time: a second one gets an error, instead of half of a state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


class OneThread:
    """An object that only one thread at a time may be inside."""

    _busy: bool

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Raise if another thread is inside."""
        if self._busy:
            raise in_use()
        self._busy = True
        try:
            yield
        finally:
            self._busy = False


def in_use() -> RuntimeError:
    """The error for a call while another thread is inside."""
    return RuntimeError(
        "the calibrator is in use by another thread. Use one calibrator per thread, or a lock."
    )
