"""Check a data folder: what is in it and what is damaged, found on a copy of its files."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from localarc_service.storage import high_water_mark, store
from localarc_service.storage.store import NO_MARKS, EventStore
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.stream import Stream

_FILES = store.FILE_NAME, f"{store.FILE_NAME}-wal", high_water_mark.FILE_NAME


class InUseError(ValueError):
    """A service uses the folder."""


@dataclass(frozen=True)
class StreamCheck:
    """One stream of a folder: its latest seq, its rounds and pending predictions, what is wrong."""

    name: str
    seq: int | None
    rounds: int
    pending: int
    problem: str = ""


@dataclass(frozen=True)
class FolderCheck:
    """What is in a folder: its streams, its events, and what is wrong with its files."""

    streams: list[StreamCheck] = field(default_factory=list)
    events: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def damaged(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.problems) or any(stream.problem for stream in self.streams)


def check_all(folders: Sequence[Path]) -> FolderCheck:
    """What is in all folders of a service, one per worker."""
    return join([check(folder) for folder in folders])


def join(found: Sequence[FolderCheck]) -> FolderCheck:
    """What is in several folders of one service."""
    return FolderCheck(
        streams=sorted((one for each in found for one in each.streams), key=lambda one: one.name),
        events=sum(each.events for each in found),
        problems=[line for each in found for line in each.problems],
        notes=[line for each in found for line in each.notes],
    )


def check(folder: Path, scratch: Path | None = None) -> FolderCheck:
    """Load all streams of a folder, as a start does, without changing a byte of it.

    `scratch` is a folder with room for a copy of it, by default the folder of temporary files.
    """
    require_data(folder)
    with (
        tempfile.TemporaryDirectory(prefix=".localarc-check-", dir=scratch) as place,
        unused(folder),
    ):
        copy = Path(place)
        copy_files(folder, copy)
        try:
            return _check_copy(copy)
        except sqlite3.Error as error:
            return FolderCheck(problems=[f"the database cannot be read: {error}"])


def require_data(folder: Path) -> None:
    """Raise unless a folder has the files of a store."""
    if not (folder / store.FILE_NAME).is_file():
        raise ValueError(f"{folder} is not a data folder: it has no {store.FILE_NAME}.")


def copy_files(folder: Path, target: Path) -> None:
    """Copy the files of a folder that no service uses."""
    for name in _FILES:
        if (folder / name).exists():
            shutil.copy(folder / name, target)


def _check_copy(folder: Path) -> FolderCheck:
    with contextlib.closing(EventStore(folder)) as opened:
        notes = [] if opened.has_marks else [NO_MARKS]
        streams = opened.load()
        found = [_checked(stream) for stream in streams.values()]
        found += [_set_aside(each) for each in opened.quarantined.values()]
        problems = ["pages of the database are damaged"] * opened.salvaged
        rounded = sum(stream.replay_rounded for stream in streams.values())
        if rounded:
            notes.append(f"{rounded} threshold(s) were rounded differently on replay: harmless")
        ordered = sorted(found, key=lambda stream: stream.name)
        return FolderCheck(ordered, opened.events, problems, notes)


def _checked(stream: Stream) -> StreamCheck:
    state, problem = stream.state, "" if stream.consistent else "the consistency check fails"
    if stream.replay_differs:
        problem = f"{stream.replay_differs} threshold(s) differed on replay, not acknowledged"
    return StreamCheck(stream.name, state.seq, state.rounds, len(state.pending), problem)


def _set_aside(found: Quarantine) -> StreamCheck:
    problem = found.reason
    if found.missing:
        problem += f"; {found.missing} acknowledged event(s) are missing"
    if found.readable is None:
        return StreamCheck(found.name, None, 0, 0, problem)
    state = found.readable.state
    return StreamCheck(found.name, state.seq, state.rounds, len(state.pending), problem)


@contextlib.contextmanager
def unused(folder: Path) -> Iterator[None]:
    """Keep services from starting on the folder; raises InUseError if one is running."""
    try:
        lock = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:  # a copy, or a folder that was never used
        yield
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUseError(f"{folder} is in use: stop the service, or check a copy.") from error
        yield
    finally:
        os.close(lock)
