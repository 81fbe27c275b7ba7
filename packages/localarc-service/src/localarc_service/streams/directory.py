"""The names of all streams of a service, for limits that are those of all its processes."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator


class Directory:
    """The directory of a service in one process: there are no streams elsewhere."""

    @contextlib.contextmanager
    def locked(self) -> Iterator[Collection[str]]:
        """The names of streams elsewhere, which cannot grow inside the block."""
        yield ()

    def reserve(self, names: Iterable[str]) -> None:
        """Have others count these names as well; within `locked`."""

    def publish(self, names: Iterable[str]) -> bool:
        """These are the streams of this process, on disk; False if others could not be informed."""
        return True

    def withdraw(self) -> None:
        """This process does not know its streams: another one may change them."""
