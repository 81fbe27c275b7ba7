"""Checksums of stored rows: SQLite does not notice a changed byte inside a row, this does."""

from __future__ import annotations

import zlib


def row_checksum(stream: str, number: int, data: bytes) -> int:
    """CRC-32 of everything that a row says: whose it is, its position and its content."""
    return zlib.crc32(data, zlib.crc32(b"%s %d " % (stream.encode(), number)))


def is_intact(stream: object, number: object, data: object, checksum: object) -> bool:
    """Whether a row is as it was written; in a damaged one, values may even have other types."""
    if not (isinstance(stream, str) and isinstance(number, int) and isinstance(data, bytes)):
        return False
    return row_checksum(stream, number, data) == checksum
