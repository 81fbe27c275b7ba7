"""Checksums of stored rows: SQLite does not notice a changed byte inside a row, this does."""

from __future__ import annotations

import zlib


def row_checksum(stream: str, number: int, data: bytes) -> int:
    """CRC-32 of everything that a row says: whose it is, its position and its content."""
    return zlib.crc32(data, zlib.crc32(b"%s %d " % (stream.encode(), number)))
