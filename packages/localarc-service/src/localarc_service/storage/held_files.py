"""Files that are open, and whether others still find them in their place.

A folder can be deleted, restored from a backup or mounted over while a service has its files open.
The service could go on writing: to files that no process will read again, beside another service
that finds the path free.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Self


class HeldFile(NamedTuple):
    """A path, and the file that was open under it; while it is open, its numbers are its own."""

    path: str
    device: int
    inode: int

    @classmethod
    def at(cls, path: Path, handle: int | None = None) -> Self:
        """The file of a handle, or the one at the path, which has just been opened."""
        found = os.stat(path if handle is None else handle)
        return cls(str(path), found.st_dev, found.st_ino)

    def moved(self) -> str:
        """What happened to the file at the path; nothing if it is the one that is open."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            return f"{self.path} cannot be found any more ({error.strerror})"
        if found.st_ino == self.inode and found.st_dev == self.device:
            return ""
        return f"{self.path} is another file than the one that this service has open"


class HeldFiles:
    """Some of them. Once one has moved, another service may have the place: that stays so."""

    def __init__(self, files: Iterable[HeldFile] = ()) -> None:
        self._files = [*files]
        self.moved = ""  # why nothing may be written; empty if it may

    def hold(self, path: Path) -> None:
        """Look at the file at a path, if there is one, and no longer at an earlier one there."""
        self._files = [file for file in self._files if file.path != str(path)]
        if path.exists():
            self._files.append(HeldFile.at(path))

    def look(self) -> str:
        """Compare all of them, in a microsecond each, unless one is known to have moved."""
        if not self.moved:
            what = next(filter(None, (file.moved() for file in self._files)), "")
            if what:
                self.moved = f"{what}: the data folder was deleted or replaced; restart the service"
        return self.moved
