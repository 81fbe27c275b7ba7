"""A copy of the package, in which one file at a time is made wrong; the working tree never is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "src" / "localarc"
LINKED = "engine", "betting/compiled"  # share loops with the working tree, and have no faults

_RUN = """
import sys, pytest, localarc
if not localarc.__file__.startswith(sys.argv[1]):
    sys.exit(f"the tests would run {localarc.__file__}, not the copy")
sys.exit(pytest.main(sys.argv[2:]))
"""
_QUIETLY = ("-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no")
_PASSED, _FAILED, _INTERRUPTED = 0, 1, 2  # exit codes of pytest; 2 also where a test file fails


class SandboxError(RuntimeError):
    """The tests did not run as they should."""


class Sandbox:
    """A copy of the package, and the tests of the working tree run against it."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "localarc"
        ignored = shutil.ignore_patterns("__pycache__")
        shared = {SOURCES / folder for folder in LINKED}

        def leave_out(path: str, names: list[str]) -> set[str]:
            linked = {name for name in names if Path(path, name) in shared}
            return ignored(path, names) | linked

        shutil.copytree(SOURCES, self.package, ignore=leave_out)
        for linked in LINKED:
            (self.package / linked).symlink_to(SOURCES / linked)

    @contextmanager
    def replaced(self, file: str, text: str) -> Iterator[None]:
        """With another text in one file of the copy."""
        path = self.package / file
        if path.resolve().is_relative_to(SOURCES):
            raise SandboxError(f"{file} is not copied: faults there would reach the working tree.")
        before = path.read_text()
        path.write_text(text)
        try:
            yield
        finally:
            path.write_text(before)

    def passes(self, tests: tuple[str, ...], timeout: float) -> bool:
        """Whether all tests pass; a run that takes too long does not."""
        paths = [str(ROOT / "tests" / name) for name in tests]
        command = [sys.executable, "-c", _RUN, str(self.package), *_QUIETLY, *paths]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=self._environment(),
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        if done.returncode in (_PASSED, _FAILED, _INTERRUPTED):
            return done.returncode == _PASSED
        raise SandboxError(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")

    def _environment(self) -> dict[str, str]:
        """The copy comes first; without .pyc files, which may be those of the fault before."""
        paths = [str(self.package.parent), str(ROOT / "tests")]
        return os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@contextmanager
def sandbox() -> Iterator[Sandbox]:
    """A copy that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="localarc-mutants-") as folder:
        yield Sandbox(Path(folder).resolve())
