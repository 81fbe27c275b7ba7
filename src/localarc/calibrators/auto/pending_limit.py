"""A limit on tickets: how many may be pending, and a warning before they take much memory."""

from __future__ import annotations

import warnings
from dataclasses import replace

from localarc.calibrators.auto.settings import AutoSettings, checked_max_pending
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine

LARGE = 2**28  # bytes of pending rounds, from which on each doubling is worth a warning


class PendingWarning(UserWarning):
    """Pending tickets take much memory: says how many there are, and how many megabytes."""


class LimitedPending:
    """An object with an engine, whose tickets are limited in number."""

    settings: AutoSettings
    _engine: AutoEngine | None
    _reported = 0  # bytes, in the latest warning

    @property
    def max_pending(self) -> int:
        """How many tickets may be pending; can be set."""
        return self.settings.max_pending

    @max_pending.setter
    def max_pending(self, most: int) -> None:
        self.settings = replace(self.settings, max_pending=checked_max_pending(most))

    @property
    def issued(self) -> int:
        """The number of tickets that were ever issued."""
        return 0 if self._engine is None else int(self._engine.numbers[layout.ISSUED])

    @property
    def pending_count(self) -> int:
        """The number of tickets that are pending."""
        return 0 if self._engine is None else int(self._engine.numbers[layout.PENDING])

    def require_room(self, tickets: int) -> None:
        """Raise unless so many more tickets may be pending."""
        pending = self.pending_count
        if pending + tickets > self.max_pending:
            raise RuntimeError(
                f"at most {self.max_pending:,} tickets may be pending, max_pending, and {pending:,}"
                f" are: there is no room for {tickets:,} more. Tell what is known of them, forget "
                "those of which nothing will ever be known, or raise max_pending."
            )

    def _reserve(self, engine: AutoEngine, groups: int, tickets: int) -> None:
        """Make room for so many groups per round and so many more tickets, or raise."""
        if tickets:
            self.require_room(tickets)
        if not engine.reserve(groups, tickets):
            return
        size = engine.pending_bytes + tickets * engine.ticket_bytes
        if size >= max(LARGE, 2 * self._reported):
            self._reported = size
            pending = int(engine.numbers[layout.PENDING]) + tickets
            warnings.warn(
                f"{pending:,} pending tickets take up to {size / 1e6:,.0f} MB. Forget those "
                "of which nothing will ever be known, or set max_pending to the number that "
                f"may be pending, now {self.max_pending:,}.",
                PendingWarning,
                stacklevel=6,  # of `ask` and `ask_many`
            )
