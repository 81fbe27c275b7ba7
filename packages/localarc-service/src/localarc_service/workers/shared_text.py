"""A short text in memory that a process shares with those that it forks."""

from __future__ import annotations

import mmap

_LENGTH_BYTES = 2
_MAX_BYTES = 1024


class SharedText:
    """Written by the parent, read by its children, without a lock: a longer text may be torn.

    Whether it is empty is always right: that is one write.

    >>> text = SharedText("starting")
    >>> text.write("")
    >>> text.read()
    ''
    """

    def __init__(self, text: str = "") -> None:
        self._memory = mmap.mmap(-1, _LENGTH_BYTES + _MAX_BYTES)
        self.write(text)

    def read(self) -> str:
        """The latest text."""
        end = _LENGTH_BYTES + int.from_bytes(self._memory[:_LENGTH_BYTES], "big")
        return self._memory[_LENGTH_BYTES:end].decode("utf-8", "replace")

    def write(self, text: str) -> None:
        """Replace the text."""
        content = text.encode()[:_MAX_BYTES]
        end = _LENGTH_BYTES + len(content)
        self._memory[_LENGTH_BYTES:end] = content
        self._memory[:_LENGTH_BYTES] = len(content).to_bytes(_LENGTH_BYTES, "big")
