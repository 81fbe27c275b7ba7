"""The high-water mark: the latest acknowledged event of each stream, outside the database.

Damage to SQLite's write-ahead log loses the latest commits without an error, and everything that
was committed with them. This file beside the database tells, at the next start, what is missing. A
line is appended after each commit and before its responses; later lines replace what earlier ones
say of a stream. A crash of the process loses no line. The file is flushed to disk once a second,
after responses, so that they wait for the disk once: after a power failure the mark can be that
much behind, and never ahead.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from localarc import atomic_write

FILE_NAME = "log.marks"
_MIN_SIZE = 2**16  # bytes, below which the file is not rewritten
_GROWTH = 4  # times its size after the last rewrite
_SYNC_SECONDS = 1.0

Seqs: TypeAlias = dict[str, int]
_decode = msgspec.json.Decoder(tuple[int, dict[str, int | None]]).decode
"""In files of older versions, null is a stream that is gone."""
_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("localarc.service")


class HighWaterMark:
    """The file of marks of a data folder; reading it changes nothing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self.streams: Seqs = {}
        self.last_event = 0
        self.unreadable_lines = 0
        self._unwritten: Seqs = {}
        self._file: int | None = None
        self._synced, self._unsynced = time.monotonic(), False
        self.exists = self._path.exists()
        self._size = self._read() if self.exists else 0
        self._limit = max(_MIN_SIZE, _GROWTH * self._size)

    def _read(self) -> int:
        content = self._path.read_bytes()
        for line in filter(None, content.split(b"\n")):
            try:
                checksum, _, record = line.partition(b" ")
                if int(checksum, 16) != zlib.crc32(record):
                    raise ValueError("the checksum differs.")
                self._merge(*_decode(record))
            except ValueError:  # also of msgspec
                self.unreadable_lines += 1
        return len(content)

    def _merge(self, last_event: int, streams: Mapping[str, int | None]) -> None:
        self.last_event = max(self.last_event, last_event)
        for name, seq in streams.items():
            if seq is None:
                self.streams.pop(name, None)
            else:
                self.streams[name] = seq

    @contextlib.contextmanager
    def without(self, names: Iterable[str]) -> Iterator[None]:
        """Forget streams before the block removes them, so that a crash is not taken for damage.

        No line of the file names them any more. If the block fails, their marks come back.
        """
        forgotten = {name: self.streams.pop(name) for name in names if name in self.streams}
        for name in forgotten:
            self._unwritten.pop(name, None)
        try:
            if forgotten:
                self._rewrite()
        except OSError as error:
            self.streams.update(forgotten)
            raise sqlite3.OperationalError(f"the high-water mark: {error.strerror}") from error
        try:
            yield
        except BaseException:
            self.advance(self.last_event, forgotten)
            raise

    def advance(self, last_event: int, streams: Mapping[str, int]) -> None:
        """Note the latest seq of some streams.

        What they note is on disk already: if writing fails, it is logged and repeated next time.
        """
        self._merge(last_event, streams)
        self._unwritten.update(streams)
        line = _line(last_event, self._unwritten)
        try:
            if not self.exists or self.unreadable_lines or self._size + len(line) > self._limit:
                self._rewrite()
            else:
                self._append(line)
        except OSError as error:
            _log.warning("the high-water mark could not be written: %s", error.strerror)
            return
        self._unwritten = {}

    def _append(self, line: bytes) -> None:
        if self._file is None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        written = os.write(self._file, line)
        self._size, self._unsynced = self._size + written, True
        if written < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _rewrite(self) -> None:
        """Replace the file by one line per stream."""
        line = _line(self.last_event, self.streams)
        atomic_write.write(self._path, line)
        self._close_file()
        self.exists, self.unreadable_lines = True, 0
        self._size, self._limit = len(line), max(_MIN_SIZE, _GROWTH * len(line))

    def remove_leftovers(self) -> None:
        """Remove unfinished copies that a killed process left: they name streams of that time."""
        with contextlib.suppress(OSError):  # the next erasure tries again
            atomic_write.remove_leftovers(self._path)

    def flush(self) -> None:
        """Flush new lines to disk, at most once a second."""
        if self._unsynced and time.monotonic() - self._synced >= _SYNC_SECONDS:
            self._sync()

    def _sync(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # the next commit will find out
                os.fdatasync(self._file)
        self._synced, self._unsynced = time.monotonic(), False

    def close(self) -> None:
        """Flush the file to disk, and close it."""
        self._sync()
        self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _line(last_event: int, streams: Mapping[str, int]) -> bytes:
    """A line, after a line feed: then the next one can be read if this one is cut off."""
    record = _encode((last_event, streams))
    return b"\n%08x %s" % (zlib.crc32(record), record)
