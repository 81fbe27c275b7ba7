"""The export file: streams that leave one store for another, in one file.

It is a ZIP archive without compression. `manifest.json` has the versions of the export and of the
stored format, and the size and SHA-256 of each stream; `streams/NAME` is its snapshot, which is all
of it. Older formats are converted when they are read.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from localarc import atomic_write
from localarc.reporting.assessment import version as release
from localarc_client.wire.fields import StreamName
from localarc_service.storage import migrations
from localarc_service.stored.format import VERSION
from localarc_service.streams.stream import Stream

EXPORT_VERSION = 1
_MANIFEST = "manifest.json"


class ExportError(ValueError):
    """A file that cannot be imported."""


class Entry(msgspec.Struct, frozen=True):
    """One stream of an export; `seq` and `rounds` are for people who look at it."""

    name: StreamName
    seq: int
    rounds: int
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What is in an export, and who wrote it."""

    export: int
    format: int
    localarc: str
    streams: list[Entry]


def encode(streams: Iterable[Stream]) -> bytes:
    """An export of some streams."""
    target, entries = io.BytesIO(), []
    with zipfile.ZipFile(target, "w") as archive:
        for stream in streams:
            data = stream.snapshot()
            entries.append(_entry(stream, data))
            archive.writestr(_member(_path(stream.name)), data)
        manifest = Manifest(EXPORT_VERSION, VERSION, release(), entries)
        archive.writestr(_member(_MANIFEST), msgspec.json.format(msgspec.json.encode(manifest)))
    return target.getvalue()


def write(path: Path, streams: Iterable[Stream]) -> None:
    """Write an export, completely or not at all."""
    atomic_write.write(path, encode(streams))


def read(source: BinaryIO, names: Collection[str] = ()) -> Iterator[Stream]:
    """The streams of an export, or those named; raises ExportError if anything is not as it was."""
    try:
        with zipfile.ZipFile(source) as archive:
            manifest = _manifest(archive)
            unknown = sorted({*names} - {entry.name for entry in manifest.streams})
            if unknown:
                raise ExportError(f"the export has no stream {', '.join(unknown)}.")
            for entry in manifest.streams:
                if not names or entry.name in names:
                    yield _stream(archive, entry, manifest.format)
    except ExportError:
        raise
    except (zipfile.BadZipFile, EOFError, KeyError, NotImplementedError, ValueError) as error:
        raise ExportError(
            f"this is not an export of localarc, or it is damaged: {error}."
        ) from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    data = _content(archive, _MANIFEST)
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise ExportError(f"the manifest of the export cannot be read: {error}.") from error
    if manifest.export != EXPORT_VERSION or not migrations.OLDEST <= manifest.format <= VERSION:
        raise ExportError(
            f"localarc {manifest.localarc} wrote this export, in version {manifest.export} with "
            f"format {manifest.format}; this release reads version {EXPORT_VERSION} with formats "
            f"{migrations.OLDEST} to {VERSION}. Import it with a newer release."
        )
    return manifest


def _stream(archive: zipfile.ZipFile, entry: Entry, version: int) -> Stream:
    """A stream, as it was exported."""
    data = _content(archive, _path(entry.name))
    if len(data) != entry.bytes or hashlib.sha256(data).hexdigest() != entry.sha256:
        raise ExportError(f"stream {entry.name!r} is damaged: its checksum differs.")
    try:
        if version < VERSION:
            data = migrations.upgrade_snapshot(data, version)
        stream = Stream.from_snapshot(data)
    except (ValueError, TypeError, KeyError, msgspec.MsgspecError) as error:
        raise ExportError(f"stream {entry.name!r} cannot be read: {error}") from error
    if stream.name != entry.name or not stream.consistent:
        raise ExportError(f"stream {entry.name!r} is inconsistent: it was not imported.")
    return stream


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member; a compressed one is rejected, since a small file could become a large one."""
    if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
        raise ExportError("the export is compressed: unpack it, and pack it without compression.")
    return archive.read(name)


def _entry(stream: Stream, data: bytes) -> Entry:
    state, checksum = stream.state, hashlib.sha256(data).hexdigest()
    return Entry(stream.name, state.seq, state.rounds, len(data), checksum)


def _path(name: str) -> str:
    return f"streams/{name}"


def _member(name: str) -> zipfile.ZipInfo:
    """A member with a fixed date: equal streams make equal files."""
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
