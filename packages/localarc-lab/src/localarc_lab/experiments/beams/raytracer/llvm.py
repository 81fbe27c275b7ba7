"""LLVM for Sionna RT: find a library that works, without letting a bad one abort the process.

LLVM 15 and 16 load, but abort the whole process during the first run; 14 does not load. So the
version of each library is determined in a separate process, before this one loads it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from glob import glob
from importlib import metadata
from pathlib import Path

VARIABLE = "DRJIT_LIBLLVM_PATH"
"""The environment variable with the library that Dr.Jit, which Sionna RT uses, loads."""

MIN_VERSION = 17

_PATTERNS = (
    "/usr/lib/*/libLLVM*.so*",
    "/usr/lib/llvm-*/lib/libLLVM*.so*",
    "/usr/lib64/libLLVM*.so*",
    "/usr/lib64/llvm*/lib*/libLLVM*.so*",
    "/usr/local/lib/libLLVM*.so*",
    "/opt/homebrew/opt/llvm*/lib/libLLVM*.dylib",
    "/usr/local/opt/llvm*/lib/libLLVM*.dylib",
)

_PRINT_VERSION = "import drjit; print('major', drjit.detail.llvm_version()[0])"

_REMEDY = (
    f"Install LLVM {MIN_VERSION} or newer, e.g. `apt-get install libllvm19` on Debian 12 or "
    f"`brew install llvm`, or set {VARIABLE} to the path of the library."
)


def prepare() -> None:
    """Set `DRJIT_LIBLLVM_PATH` so that Sionna RT can start, or raise ImportError with a remedy."""
    try:
        metadata.version("sionna-rt")  # importing the module itself would already load LLVM
    except metadata.PackageNotFoundError as error:
        raise ImportError(
            "The engine sionna requires Sionna RT: pip install './packages/localarc-lab[beams]'"
        ) from error
    os.environ[VARIABLE] = library(os.environ.get(VARIABLE))


@cache
def library(chosen: str | None) -> str:
    """Return the path of the chosen library, or of the first that is recent enough."""
    found: list[str] = []
    for path in [chosen] if chosen else candidates():
        major = version(path)
        if major is not None and major >= MIN_VERSION:
            return path
        found.append(f"{path} ({'does not work' if major is None else f'version {major}'})")
    listed = f"Found only {', '.join(found)}." if found else "Found none."
    raise ImportError(
        f"The engine sionna requires LLVM {MIN_VERSION} or newer, because older versions abort the "
        f"process. {listed} {_REMEDY}"
    )


def candidates() -> Iterator[str]:
    """Yield the libraries on this machine, the highest version in the file name first."""
    paths = {str(Path(path).resolve()) for pattern in _PATTERNS for path in glob(pattern)}
    yield from sorted(paths, key=_number, reverse=True)


def version(path: str) -> int | None:
    """Return the major version of a library as Dr.Jit reports it; None if it cannot load it."""
    answer = subprocess.run(
        [sys.executable, "-c", _PRINT_VERSION],
        env={**os.environ, VARIABLE: path},
        capture_output=True,
        text=True,
        check=False,
    )
    major = re.search(r"^major (\d+)$", answer.stdout, re.MULTILINE)
    return int(major.group(1)) if answer.returncode == 0 and major else None


def _number(path: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", Path(path).name))
