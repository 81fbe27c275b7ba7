"""Salvage: when pages of a database are damaged, what can still be read moves to a new file.

SQLite must not write to a database whose tree of pages is damaged. The damaged files are kept in a
folder beside it. Rows that cannot be read are missing in the new file; loading notices which.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_log = logging.getLogger("localarc.service")
_Row = tuple[object, ...]


def is_damaged(database: sqlite3.Connection) -> bool:
    """Whether pages of a database are damaged; reads all of them."""
    try:
        found = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError:
        return True
    return bool(found[0] != "ok")


def salvage(
    database: sqlite3.Connection, path: Path, schema: Sequence[str], version: int, last_event: int
) -> Path:
    """Replace a database, and close it; returns the folder with the damaged files."""
    fresh = path.with_name(f"{path.name}.salvaged")
    fresh.unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as target, target:
        target.execute("BEGIN IMMEDIATE")
        for table in schema:
            target.execute(table)
        for table, columns in ("events", 5), ("snapshots", 4):
            places = ", ".join("?" * columns)
            rows = _readable_rows(database, table, last_event)
            target.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({places})", rows)
        target.execute(f"PRAGMA user_version = {version}")
    aside = _copy_aside(path)
    with contextlib.suppress(sqlite3.Error):
        database.close()  # moves what it can of the write-ahead log into the damaged file
    for suffix in "-wal", "-shm":
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    _sync(fresh)
    os.replace(fresh, path)
    _sync(path.parent)
    _log.error("pages of the database are damaged: the damaged files are in %s", aside)
    return aside


def _copy_aside(path: Path) -> Path:
    aside = path.parent / f"damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    aside.mkdir(exist_ok=True)
    for suffix in "", "-wal":
        source = path.with_name(path.name + suffix)
        if source.exists():
            shutil.copy(source, aside)
    return aside


def _readable_rows(database: sqlite3.Connection, table: str, last_event: int) -> Iterator[_Row]:
    """All rows that can be read: in order up to the first damaged page, then one by one."""
    last = 0
    try:
        for number, *row in database.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid"):
            last = number
            yield tuple(row)
        return
    except sqlite3.DatabaseError:
        pass
    for rowid in range(last + 1, _largest_rowid(database, table, last_event) + 1):
        with contextlib.suppress(sqlite3.DatabaseError):
            found = database.execute(f"SELECT * FROM {table} WHERE rowid = ?", (rowid,)).fetchone()
            if found is not None:
                yield found


def _largest_rowid(database: sqlite3.Connection, table: str, last_event: int) -> int:
    """The largest rowid; each event makes at most one row of either table."""
    try:
        return database.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0
    except sqlite3.DatabaseError:
        return last_event


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
