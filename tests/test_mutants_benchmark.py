"""Mutants: every fault fits the sources, and a copy is made wrong, never the working tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.mutants.fault import FaultError, Target
from benchmarks.mutants.faults import TARGETS
from benchmarks.mutants.sandbox import ROOT, SOURCES, SandboxError, sandbox

CHANCE = next(target for target in TARGETS if target.file == "guarantees/chance.py")
TEST = """
from localarc.guarantees import chance

def test_the_limit_of_one_hundred_rounds():
    assert abs(chance.deviation(100, 0.1, 1.0) - {value!r}) < 1e-9
"""


@pytest.mark.parametrize("target", TARGETS, ids=[target.file for target in TARGETS])
def test_every_fault_has_one_place_and_makes_a_program(target: Target) -> None:
    target.check(SOURCES)
    assert len({*target.faults}) == len(target.faults)
    assert all((ROOT / "tests" / name).is_file() for name in target.tests)


def test_there_are_sixty_faults_or_more() -> None:
    assert sum(len(target.faults) for target in TARGETS) >= 60


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("no such text", "", "was found 0 times, and must be found once"),
        ("alpha", "beta", "must be found once"),
        ("LEVEL = 1e-3", "LEVEL = 1e-3", "is replaced by itself"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused(old: str, new: str, error: str) -> None:
    with pytest.raises(FaultError, match=error):
        replace(CHANCE, faults=((old, new),)).check(SOURCES)


def test_a_fault_is_found_in_the_copy_and_the_working_tree_stays_as_it_is(tmp_path: Path) -> None:
    from localarc.guarantees import chance

    source = (SOURCES / CHANCE.file).read_text()
    test = tmp_path / "test_limit.py"
    test.write_text(TEST.format(value=chance.deviation(100, 0.1, 1.0)))
    with sandbox() as copy:
        assert copy.passes((str(test),), 600.0)
        with copy.replaced(CHANCE.file, CHANCE.faulty(0, source)):
            assert not copy.passes((str(test),), 600.0)
            assert (SOURCES / CHANCE.file).read_text() == source
        assert (copy.package / CHANCE.file).read_text() == source
        with pytest.raises(KeyError), copy.replaced(CHANCE.file, ""):
            raise KeyError
        assert (copy.package / CHANCE.file).read_text() == source
    assert not copy.package.exists()


def test_what_the_copy_shares_with_the_working_tree_is_never_made_wrong() -> None:
    with (
        sandbox() as copy,
        pytest.raises(SandboxError, match=r"engine/step.py is not copied"),
        copy.replaced("engine/step.py", ""),
    ):
        pass
    assert (SOURCES / "engine" / "step.py").read_text()


def test_a_run_without_tests_is_no_pass(tmp_path: Path) -> None:
    with sandbox() as copy, pytest.raises(SandboxError, match="pytest ended with 4"):
        copy.passes((str(tmp_path / "nothing.py"),), 600.0)
