"""Compiled loops are found wherever they were stored; where none can be, all works without."""

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numba import config

import localarc
from localarc.engine import disk_cache
from localarc.engine.numba_tools import compile_entry

NOWHERE = "/dev/null/nowhere"  # no folder can be made there, not even by root
ONLINE = """
import logging, numpy as np
logging.basicConfig(format="%(name)s %(message)s")
import localarc
from localarc import LARC, RBF, replay
from localarc.curves import miscoverage
cal = LARC(0.1, RBF(1.0)).update([0.0], 1.0)
replay(cal, np.zeros((3, 1)), miscoverage([1.0, 2.0, 3.0]))
cal.update(np.zeros(1), 0.0)
print(localarc.__file__, cal.threshold(np.zeros(1)), cal.averaged_threshold_function([[0.0]]))
from localarc.engine.disk_cache import activity
print(activity.found > 0, activity.stored, activity.not_stored > 0, cal.rounds)
"""


def run(
    *command: str, environment: dict[str, str], prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run Python, with no cache folder but those that are named."""
    kept = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    nowhere = {"HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE}
    done = subprocess.run(
        [*prefix, sys.executable, *command],
        capture_output=True,
        text=True,
        env=kept | nowhere | environment,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package beside which nothing can be stored: its cache folders are files."""
    source = Path(localarc.__file__).parent
    copy = tmp_path / "copy" / "localarc"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.npz*"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()
    return copy


def read_only(folder: Path) -> tuple[str, ...]:
    """The beginning of a command for which the folder is mounted, or made, read-only."""
    if os.geteuid() != 0:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        return ()
    script = f"mount --bind {folder} {folder} && mount -o remount,bind,ro {folder}"
    if subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True).returncode:
        pytest.skip("root ignores permissions, and may not mount here")
    return "unshare", "-m", "sh", "-c", f'{script} && exec "$@"', "sh"


@pytest.mark.slow  # compiles without a cache
def test_without_a_writable_folder_everything_works_and_one_line_says_so(package: Path) -> None:
    done = run("-c", ONLINE, environment={"PYTHONPATH": str(package.parent)})
    first, second = done.stdout.splitlines()
    assert first.startswith(str(package))
    assert second == "False 0 True 5"
    lines = [line for line in done.stderr.splitlines() if line.startswith("localarc ")]
    assert len(lines) == 1
    for words in ("no folder is writable", "NUMBA_CACHE_DIR", "localarc warm-up"):
        assert words in lines[0]


@pytest.mark.slow  # compiles in two processes
def test_what_warm_up_stored_is_used_from_a_read_only_folder(package: Path, tmp_path: Path) -> None:
    """As in an image: the cache is filled when it is built, and the user who runs it has a home."""
    cache, home = tmp_path / "cache", tmp_path / "home"
    home.mkdir()
    here = {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(cache)}
    options = ["--memories", "auto", "--features", "1"]
    printed = run("-m", "localarc.cli", "warm-up", *options, environment=here).stdout
    assert "rbf, auto, 1 feature(s):" in printed
    assert f"The compiled loops are in {cache}" in printed
    done = run(
        "-c", ONLINE, environment=here | {"XDG_CACHE_HOME": str(home)}, prefix=read_only(cache)
    )
    assert done.stdout.splitlines()[1] == "True 0 False 5"
    assert done.stderr == ""
    assert not list(home.rglob("*.nbc"))


def double(x: float) -> float:
    return 2.0 * x


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(disk_cache, "_warned", [])
    with caplog.at_level(logging.WARNING, "localarc"):
        yield caplog


def test_a_disk_that_becomes_full_is_no_error(
    warnings: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    for value in (1.0, 2.0):
        compiled: Any = compile_entry(double, f"full{value:.0f}")
        if compiled._cache._writer is None:
            pytest.skip("no folder is writable here")
        monkeypatch.setattr(compiled._cache._writer, "save_overload", full)
        monkeypatch.setattr(compiled._cache, "_readers", [])
        assert compiled(value) == 2.0 * value
    assert len(warnings.messages) == 1
    assert "No space left on device" in warnings.messages[0]


def test_a_folder_that_may_not_be_read_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forbidden:
        def load_overload(self, *_: Any) -> None:
            raise PermissionError("not yours")

    compiled: Any = compile_entry(double, "forbidden")
    monkeypatch.setattr(compiled._cache, "_readers", [Forbidden()])
    assert compiled(4.0) == 8.0


def test_a_folder_that_is_named_gets_all_loops_though_others_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first: Any = compile_entry(double, "named")
    assert first(3.0) == 6.0
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    second: Any = compile_entry(double, "named")
    assert second(3.0) == 6.0
    assert second._cache.cache_path.startswith(str(tmp_path))
    assert any(tmp_path.rglob("*.nbc"))
