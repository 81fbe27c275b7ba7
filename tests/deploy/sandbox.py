"""A container without a container runtime: a read-only root and another user, by bubblewrap."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

NOBODY = 65534
_SYSTEM = ("/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64")
_IN_OPT = tuple(map(str, Path("/opt").glob("*")))  # may hold the machine's package index


def missing(reason: str) -> None:
    """Skip a test; fail in `make deploy`."""
    if os.environ.get("LOCALARC_REQUIRE_DEPLOY"):
        pytest.fail(reason)
    pytest.skip(reason)


def program(name: str, package: str) -> str:
    """The path of a program that a Debian package has."""
    path = shutil.which(name)
    if path is None:
        missing(f"{name} is not installed: apt-get install {package}")
    return path or ""


def lint(name: str, *arguments: object) -> str:
    """Run a linter of the extra `deploy-tests`, which must be satisfied; returns its output."""
    path = Path(sys.executable).with_name(name)
    if not path.exists():
        missing(f"{name} is not installed: pip install '.[deploy-tests]'")
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    read: Mapping[str, Path],
    write: Mapping[str, Path],
    network: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run a command as uid 10001, with nothing writable but the given folders and /tmp.

    Without a network it has a loopback of its own, on which every port is free.
    """
    wrapped = [
        *_as_nobody(),
        *(program("bwrap", "bubblewrap"), "--unshare-user", "--uid", "10001", "--gid", "10001"),
        *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"),
        *([] if network else ["--unshare-net"]),
        *("--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *_binds(network),
        *(part for at, path in write.items() for part in ("--bind", str(path), at)),
        *(part for at, path in read.items() for part in ("--ro-bind", str(path), at)),
        *("--remount-ro", "/", "--chdir", "/", "--clearenv"),
        *(part for pair in environment.items() for part in ("--setenv", *pair)),
        *command,
    ]
    return subprocess.run(wrapped, capture_output=True, text=True, timeout=900)


def hand_over(path: Path) -> None:
    """Let the user of the sandbox own a folder and what is in it."""
    if os.getuid() == 0:
        for each in [path, *path.rglob("*")]:
            os.chown(each, NOBODY, NOBODY, follow_symlinks=False)


def _as_nobody() -> list[str]:
    if os.getuid() != 0:
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def _binds(network: bool) -> list[str]:
    """The machine's programs in place of the base image's; its package index where one is used."""
    paths = [Path(name) for name in (*_SYSTEM, *(_IN_OPT if network else ()))]
    return [part for path in paths if path.exists() for part in ("--ro-bind", str(path), str(path))]
