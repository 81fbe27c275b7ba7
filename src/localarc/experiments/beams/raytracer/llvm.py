"""LLVM for Sionna RT: find a library that works, without letting a bad one end the process.

LLVM 15 and 16 load, and then abort the whole process in the middle of the first run; 14 does not
load. So every library is asked for its version in a process of its own, before this one loads it.
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
"""The environment variable that tells Dr.Jit, under Sionna RT, which library to load."""

LEAST = 17

_PLACES = (
    "/usr/lib/*/libLLVM*.so*",
    "/usr/lib/llvm-*/lib/libLLVM*.so*",
    "/usr/lib64/libLLVM*.so*",
    "/usr/lib64/llvm*/lib*/libLLVM*.so*",
    "/usr/local/lib/libLLVM*.so*",
    "/opt/homebrew/opt/llvm*/lib/libLLVM*.dylib",
    "/usr/local/opt/llvm*/lib/libLLVM*.dylib",
)

_QUESTION = "import drjit; print('major', drjit.detail.llvm_version()[0])"

_REMEDY = (
    f"Install LLVM {LEAST} or newer, e.g. `apt-get install libllvm19` on Debian 12 or "
    f"`brew install llvm`, or name the library in {VARIABLE}."
)


def prepare() -> None:
    """Make sure that Sionna RT can start: set `DRJIT_LIBLLVM_PATH`, or say what is missing."""
    try:
        metadata.version("sionna-rt")  # looking for the module itself would already load LLVM
    except metadata.PackageNotFoundError as error:
        raise ImportError(
            "The engine sionna takes Sionna RT: pip install 'localarc[beams]'"
        ) from error
    os.environ[VARIABLE] = library(os.environ.get(VARIABLE))


@cache
def library(chosen: str | None) -> str:
    """The path of the chosen library, or of the first that is new enough."""
    found: list[str] = []
    for path in [chosen] if chosen else candidates():
        major = version(path)
        if major is not None and major >= LEAST:
            return path
        found.append(f"{path} ({'does not work' if major is None else f'version {major}'})")
    listed = f"Found only {', '.join(found)}." if found else "Found none."
    raise ImportError(
        f"The engine sionna takes the library LLVM, version {LEAST} or newer: older ones abort the "
        f"process. {listed} {_REMEDY}"
    )


def candidates() -> Iterator[str]:
    """The libraries on this machine, each once, the highest number in the name first."""
    paths = {str(Path(path).resolve()) for pattern in _PLACES for path in glob(pattern)}
    yield from sorted(paths, key=_number, reverse=True)


def version(path: str) -> int | None:
    """The major version of a library as Dr.Jit sees it; None where it cannot load it."""
    answer = subprocess.run(
        [sys.executable, "-c", _QUESTION],
        env={**os.environ, VARIABLE: path},
        capture_output=True,
        text=True,
        check=False,
    )
    major = re.search(r"^major (\d+)$", answer.stdout, re.MULTILINE)
    return int(major.group(1)) if answer.returncode == 0 and major else None


def _number(path: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", Path(path).name))
