"""The command `localarc warm-up`: what it asks to compile, and what it prints and rejects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from commands import Result, assert_rejected, localarc
from localarc import Cauchy, Dictionary, KeepAll, PromiseWarning
from localarc.running.warm_up import Loops, counted


def warm_up(*options: str) -> Result:
    """Run the command in this process, where a test can see what it asks for."""
    return localarc("warm-up", "--jobs", "1", *options)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The combinations that are asked for; nothing is compiled."""
    asked: list[Any] = []

    def warm_up(*combination: Any) -> Loops:
        asked.append(combination)
        return Loops(found=2, stored=3, not_stored=0, folders=frozenset({"/a/b", "/a/c"}))

    monkeypatch.setattr("localarc.running.warm_up.warm_up", warm_up)
    monkeypatch.setattr("localarc.running.warm_up.warm_up_auto", lambda: warm_up("AutoLARC"))
    return asked


def test_every_combination_is_compiled_and_reported(asked: list[Any]) -> None:
    result = warm_up(
        "--kernels", "cauchy", "--memories", "all,dictionary:0.1", "--features", "2, 9"
    )
    assert result.status == 0
    memories = KeepAll(), Dictionary(0.1)
    larc = [(Cauchy(), memory, n) for memory in memories for n in (2, 9)]
    assert asked == [*larc, ("AutoLARC",)]
    lines = result.stdout.splitlines()
    assert lines[3].startswith("cauchy, dictionary:0.1, 9 feature(s): 3 compiled, 2 found on disk")
    assert lines[4].startswith("AutoLARC: 3 compiled, 2 found on disk")
    assert lines[5:] == ["The compiled loops are in /a"]


def test_what_another_distribution_rehearses_is_compiled_too(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[str] = []
    tasks = {"service, auto": lambda: used.append("auto")}
    found = SimpleNamespace(load=lambda: lambda: tasks)
    monkeypatch.setattr("localarc.cli.warm_up.entry_points", lambda **_: [found])
    monkeypatch.setattr(
        "localarc.running.warm_up.counted", lambda use: use() or Loops(1, 0, 0, frozenset({"/a"}))
    )
    result = warm_up("--service-only")
    assert (result.status, used, asked) == (0, ["auto"], [])
    assert "service, auto: 0 compiled, 1 found" in result.stdout
    assert warm_up("--service").status == 0
    assert len(asked) == 7


def test_without_the_service_the_error_says_how_to_install_it(
    asked: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localarc.cli.warm_up.entry_points", lambda **_: [])
    assert_rejected(warm_up("--service"), "pip install localarc-service", "./packages/")
    assert asked == []


def test_quiet_prints_nothing(asked: list[Any]) -> None:
    result = warm_up("--quiet")
    assert (result.status, result.stdout, result.stderr) == (0, "", "")
    assert len(asked) == 7


def test_the_made_up_rounds_warn_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    counted(lambda: warnings.warn("of a made-up round", PromiseWarning, stacklevel=1))
    assert [str(each.message) for each in recwarn] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kernels", "gauss"], "expected some of rbf, laplace"),
        (["--memories", "most"], "expected auto, all, last:1000"),
        (["--features", "1,0"], "expected numbers such as 1,2,3"),
        (["--features", "two"], "expected numbers such as 1,2,3"),
    ],
)
def test_an_unknown_name_is_rejected(asked: list[Any], options: list[str], words: str) -> None:
    assert_rejected(warm_up(*options), words)
    assert asked == []


def test_a_memory_that_does_not_fit_the_kernel_is_rejected() -> None:
    result = warm_up("--kernels", "laplace", "--memories", "lattice")
    assert_rejected(result, "Lattice supports RBF kernels")


def test_loops_that_cannot_be_stored_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localarc.running.warm_up.warm_up", lambda *_: Loops(0, 0, 4, frozenset()))
    assert_rejected(warm_up(), "4 compiled loop(s) cannot be stored", "NUMBA_CACHE_DIR")


@pytest.mark.slow
def test_several_processes_compile_side_by_side(tmp_path: Path) -> None:
    here = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    options = "--kernels", "laplace", "--memories", "all", "--features", "1", "--jobs", "2"
    command = [sys.executable, "-m", "localarc.cli", "warm-up", *options]
    done = subprocess.run(command, env=here, capture_output=True, text=True, check=True)
    assert re.search(r"^laplace, all, 1 feature\(s\): [1-9]\d* compiled", done.stdout, re.M)
    assert re.search(r"^AutoLARC: [1-9]\d* compiled", done.stdout, re.M)
    assert done.stderr == ""
