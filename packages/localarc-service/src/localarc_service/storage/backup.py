"""Backup: a copy of a data folder, made while a service uses it, and checked before it counts.

SQLite copies the database as of one moment, while commits go on. The copy is then loaded as a start
does: every stored threshold is computed again. Only a copy that passes gets its name.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from localarc_service.storage.check import (
    FolderCheck,
    InUseError,
    check,
    copy_files,
    join,
    require_data,
    unused,
)
from localarc_service.storage.high_water_mark import HighWaterMark, Seqs
from localarc_service.storage.store import FILE_NAME

_MARK_ATTEMPTS = 20  # while a line of the high-water mark is being written
_MARK_SECONDS = 0.05


def backup(
    folder: Path,
    target: Path,
    allow_damage: bool = False,
    stores: Sequence[Path] = (),
) -> FolderCheck:
    """Copy a data folder to a new one, which appears complete and checked, or not at all.

    `stores` are the folders below it that hold the streams, one per worker; by default itself.
    """
    if target.exists():
        raise ValueError(f"{target} exists: choose another name for the backup.")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    partial.mkdir(mode=0o700)
    try:
        found = _checked_copy(folder, partial, list(stores) or [folder])
        if found.damaged and not allow_damage:
            raise ValueError(
                f"the copy of {folder} is damaged, and was not kept: {describe_damage(found)}. "
                "Repair the folder, or pass --allow-damage to keep the copy as it is."
            )
        _sync(partial)
        partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return found


def _checked_copy(folder: Path, target: Path, stores: Sequence[Path]) -> FolderCheck:
    """Copy all stores, each as of one moment, and what says how many there are."""
    found = []
    for store in stores:
        made = target / store.relative_to(folder)
        made.mkdir(mode=0o700, exist_ok=True)
        copy(store, made)
        found.append(check(made, scratch=target.parent))
        if not found[-1].damaged:
            _complete_marks(made, found[-1])
    for settings in folder.glob("*.json"):
        shutil.copy(settings, target)
    return join(found)


def copy(folder: Path, target: Path) -> None:
    """Copy the store in a folder as of one moment, whether or not a service uses it."""
    require_data(folder)
    try:
        with unused(folder):
            copy_files(folder, target)
            return
    except InUseError:
        pass
    before = _read_marks(folder)
    _copy_database(folder / FILE_NAME, target / FILE_NAME)
    after = _read_marks(folder).streams
    # A mark from before the copy holds for it, unless the stream was deleted in between.
    ends: Seqs = {
        name: min(seq, after[name]) for name, seq in before.streams.items() if name in after
    }
    HighWaterMark(target).advance(before.last_event, ends)


def describe_damage(found: FolderCheck) -> str:
    """What is wrong with a folder, in a line."""
    streams = [f"{each.name}: {each.problem}" for each in found.streams if each.problem]
    return "; ".join([*found.problems, *streams])


def _copy_database(source: Path, target: Path) -> None:
    """Copy all pages in one read transaction, which waits for no writer and stops none."""
    try:
        with (
            contextlib.closing(
                sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)
            ) as origin,
            contextlib.closing(sqlite3.connect(target)) as made,
        ):
            origin.backup(made)
    except sqlite3.Error as error:
        raise ValueError(f"{source} cannot be copied: {error}.") from error


def _read_marks(folder: Path) -> HighWaterMark:
    """The high-water mark, when no line of it is half written."""
    for _ in range(_MARK_ATTEMPTS):
        found = HighWaterMark(folder)
        if not found.unreadable_lines:
            break
        time.sleep(_MARK_SECONDS)
    return found


def _complete_marks(folder: Path, found: FolderCheck) -> None:
    """Note the end of every stream in the copy, so that loss of a part of it will show."""
    marks = HighWaterMark(folder)
    ends = {each.name: each.seq for each in found.streams if each.seq is not None}
    marks.advance(marks.last_event, ends)
    marks.close()


def _sync(folder: Path) -> None:
    """Wait until all files and folders are on disk."""
    for path in (*folder.rglob("*"), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
