"""Sources that a data set can be downloaded from."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
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
class WheelMember:
    """A file in a package's wheel, extracted without installing the package.

    The wheel may be for another version of Python, because only its content is used.

    Parameters
    ----------
    package : str
        Requirement for pip, e.g. `"scikit-multiflow==0.4.1"`.
    platform : tuple of str
        Python version, implementation, ABI and platform of the wheel.
    member : str
        Path of the file in the wheel.
    max_bytes : int, default 67108864
        Limit of the file's size. A larger file is not read: a few kilobytes in a wheel can expand
        to gigabytes, and the checksum is known only afterwards.

    Examples
    --------
    >>> platform = ("3.7", "cp", "cp37m", "manylinux1_x86_64")
    >>> str(WheelMember("scikit-multiflow==0.4.1", platform, "elec.csv"))
    'the package scikit-multiflow==0.4.1, through pip'
    """

    package: str
    platform: tuple[str, str, str, str]
    member: str
    max_bytes: int = 2**26

    def fetch(self, folder: Path) -> None:
        """Download the wheel with pip and extract the one file."""
        with tempfile.TemporaryDirectory() as download:
            self._download(Path(download))
            wheels = list(Path(download).glob("*.whl"))
            if len(wheels) != 1:
                raise UnreachableError(f"pip downloaded {len(wheels)} wheels, expected one")
            try:
                with zipfile.ZipFile(wheels[0]) as wheel:
                    content = self._read(wheel)
            except KeyError as error:
                raise UnreachableError(f"the wheel has no {self.member}") from error
            except zipfile.BadZipFile as error:
                raise UnreachableError(f"the wheel is damaged: {error}") from error
        (folder / Path(self.member).name).write_bytes(content)

    def _read(self, wheel: zipfile.ZipFile) -> bytes:
        """Read the file, unless it is too large."""
        stated = wheel.getinfo(self.member).file_size
        if stated > self.max_bytes:
            raise UnreachableError(
                f"{self.member} in the wheel has {stated:,} bytes, expected at most "
                f"{self.max_bytes:,}"
            )
        with wheel.open(self.member) as file:
            return file.read(stated)  # no more than stated, whatever it would expand to

    def _download(self, folder: Path) -> None:
        version, implementation, abi, platform = self.platform
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--disable-pip-version-check", "--no-input"]
        command += ["--python-version", version, "--implementation", implementation]
        command += ["--abi", abi, "--platform", platform, "--dest", str(folder), self.package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnreachableError(f"pip did not finish: {error}") from error
        if done.returncode != 0:
            reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise UnreachableError(
                reasons[-1] if reasons else f"pip exited with status {done.returncode}"
            )

    def __str__(self) -> str:
        return f"the package {self.package}, through pip"
