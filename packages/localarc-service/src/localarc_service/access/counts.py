"""What is counted about access, by all processes of a service together."""

from __future__ import annotations

from contextlib import AbstractContextManager

from localarc_service.access.buckets import Buckets
from localarc_service.access.shared_table import SharedTable


class AccessCounts:
    """Requests of tokens, wrong tokens of addresses, and marks: who is trusted, who was reported.

    Processes that are forked afterwards share them; `lock` is then one between processes.
    """

    def __init__(self, lock: AbstractContextManager[object] | None = None) -> None:
        self.requests = Buckets(SharedTable(lock))
        self.guesses = Buckets(SharedTable(lock))
        self.marks = SharedTable(lock)
