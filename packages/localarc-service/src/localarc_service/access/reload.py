"""Reloading: tokens follow their file, while the service runs.

The file is read again when it changes, and on SIGHUP. A file that cannot be read changes nothing:
the tokens so far go on working, and the log says what is wrong.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TypeAlias

from localarc_service.access import token_file
from localarc_service.access.audit import AuditLog
from localarc_service.access.tokens import Tokens

WATCH_SECONDS = 1.0
_log = logging.getLogger("localarc.service")
Version: TypeAlias = tuple[int, int, int] | None
"""What distinguishes two versions of a file; None without a file."""


class TokenReloader:
    """Keeps the tokens of a service equal to those of a file."""

    def __init__(self, path: Path, tokens: Tokens, audit: AuditLog | None = None) -> None:
        self._path = path
        self._tokens = tokens
        self._audit = audit
        self._seen = _version(path)
        self.requested = False  # by SIGHUP
        self.failures = 0

    def check(self) -> None:
        """Read the file if it changed or a reload was requested."""
        found = _version(self._path)
        if found == self._seen and not self.requested:
            return
        self._seen, self.requested = found, False
        try:
            tokens = token_file.read(self._path)
        except (OSError, ValueError) as error:  # also what is not UTF-8
            self.failures += 1
            _log.error("the tokens so far go on working, their file cannot be read: %s", error)
            return
        self._tokens.replace(tokens)
        _log.warning("%d token(s) were read again from %s", len(tokens), self._path)
        if self._audit is not None:
            names = [token.name for token in tokens]
            self._audit.write(action="reload_tokens", tokens=names)


def _version(path: Path) -> Version:
    """The inode, the time and the size of a file, through links: a mounted secret is one."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
