"""One process owns a data folder: the others are told so and do not start."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class FolderLock:
    """Held until `release`, or until the process ends in whatever way."""

    def __init__(self, folder: Path) -> None:
        path = folder / "lock"
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._handle)
            raise ValueError(
                f"another process serves {folder}: stop it first, or choose another folder with "
                "--data."
            ) from error

    def release(self) -> None:
        """Let another process have the folder."""
        os.close(self._handle)
