"""A table of numbers in memory that a process shares with those that it forks."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from contextlib import AbstractContextManager
from hashlib import blake2b

import numpy as np

_ENTRY = struct.Struct("=16sdd")  # a key, a time and a value
_KEY_BYTES = 16
_NUMBERS = struct.Struct("=dd")
_WAYS = 8  # entries that a key can have
_ROW_BYTES = _WAYS * _ENTRY.size
_COLUMNS = np.dtype([("key", "S16"), ("at", "f8"), ("value", "f8")])


class SharedTable:
    """A time and a value by key; of the entries in a full row, the one with the oldest time goes.

    Writers hold `lock`, where there are several processes.

    >>> table = SharedTable(rows=1)
    >>> for number in range(9):
    ...     table.put(table.key(b"%d" % number), at=1.0 + number, value=0.5)
    >>> table.get(table.key(b"0")), table.get(table.key(b"8"))
    (None, (9.0, 0.5))
    """

    def __init__(
        self, lock: AbstractContextManager[object] | None = None, rows: int = 2048
    ) -> None:
        self._rows = rows
        self._memory = mmap.mmap(-1, rows * _ROW_BYTES)
        self._secret = os.urandom(16)  # so that no client can choose names that share a row
        self.lock = contextlib.nullcontext() if lock is None else lock

    def key(self, name: bytes) -> bytes:
        """The key of a name."""
        return blake2b(name, digest_size=_KEY_BYTES, key=self._secret).digest()

    def get(self, key: bytes) -> tuple[float, float] | None:
        """Time and value, if there are any."""
        place = self._find(key)
        if place is None:
            return None
        at, value = _NUMBERS.unpack_from(self._memory, place + _KEY_BYTES)
        return at, value

    def put(self, key: bytes, at: float, value: float) -> None:
        """Set time and value."""
        place = self._find(key)
        if place is None:
            start = self._row(key)
            places = range(start, start + _ROW_BYTES, _ENTRY.size)
            place = min(places, key=self._time)
        _ENTRY.pack_into(self._memory, place, key, at, value)

    def items(self) -> list[tuple[float, float]]:
        """Time and value of all entries."""
        entries = np.frombuffer(self._memory[:], _COLUMNS)  # a copy: most are empty
        used = entries[entries["key"] != b""]
        return list(zip(used["at"].tolist(), used["value"].tolist(), strict=True))

    def _row(self, key: bytes) -> int:
        return int.from_bytes(key[:4], "little") % self._rows * _ROW_BYTES

    def _find(self, key: bytes) -> int | None:
        start = self._row(key)
        place = self._memory.find(key, start, start + _ROW_BYTES)
        return None if place < 0 or place % _ENTRY.size else place

    def _time(self, place: int) -> float:
        at, _ = _NUMBERS.unpack_from(self._memory, place + _KEY_BYTES)
        return float(at)
