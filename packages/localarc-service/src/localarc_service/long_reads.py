"""Long reads in slices: each is one job of the writer's thread, and requests come in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from localarc_service.streams.manager import StreamManager

SLICE = 8
"""Streams in one job; a certificate of AutoLARC takes milliseconds."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Ask(Protocol):
    """Runs work on the thread that owns the streams, as `Writer.ask`."""

    async def __call__(self, work: Callable[[StreamManager], Result], /) -> Result:
        """The result of the work."""


def slices(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """The items, some at a time."""
    return (items[start : start + SLICE] for start in range(0, len(items), SLICE))
