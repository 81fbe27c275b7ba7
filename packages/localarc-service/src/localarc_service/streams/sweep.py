"""A sweep: visits all parts of all streams in turn, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from localarc_service.streams.stream import Stream

PARTS = 2_000
"""Parts that one step visits, in about a millisecond."""


class Sweep:
    """Where the sweep is. Streams that are created meanwhile are visited in the next turn."""

    def __init__(self) -> None:
        self._turn: Iterator[str] = iter(())

    def next(self, streams: Mapping[str, Stream]) -> Iterator[tuple[Stream, list[str]]]:
        """The streams of this step with their parts; at most one turn."""
        visited = 0
        for _ in range(len(streams)):
            name = next(self._turn, None)
            if name is None:
                self._turn = iter(list(streams))
                name = next(self._turn)
            if name in streams:  # it may have gone with a commit that failed
                parts = list(streams[name].watch.parts)
                visited += len(parts)
                yield streams[name], parts
            if visited >= PARTS:
                return
