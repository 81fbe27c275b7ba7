"""States stored by earlier versions open, with their sums, and resume.

Those of the present algorithm have the same thresholds. A new version of the state format, and a
raised algorithm, get a folder of their own, written by `make_golden.py`; older folders stay.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import golden_files
from golden_files import GOLDEN, NINE_DIGITS
from hardware import rounds_alike
from localarc import ARC, LARC, AutoLARC, Mondrian, algorithms, serialization
from localarc.serialization import VERSION
from make_golden_states import more, score

CASES = [
    pytest.param(
        folder / f"{name}.bin",
        id=f"{folder.name} {name}",
        marks=[pytest.mark.slow] if name == "matern32_dictionary" else [],  # it compiles for long
    )
    for folder in sorted(GOLDEN.glob("states_v*"))
    for name in json.loads((folder / "expected.json").read_text())["states"]
]
ALL = sorted(GOLDEN.glob("*_v*/*.bin"))
CLASSES: dict[str, Any] = {"ARC": ARC, "LARC": LARC, "AutoLARC": AutoLARC, "Mondrian": Mondrian}


def resume(path: Path, folder: Path) -> None:
    """Open a state, save it, open it again, and learn more; every step must be as stored."""
    stored = json.loads((path.parent / "expected.json").read_text())
    expected = stored["states"][path.stem]
    probes = [[float.fromhex(value) for value in x] for x in stored["probes"]]
    cal, data = CLASSES[expected["class"]].load(path), path.read_bytes()
    golden_files.sums_agree(path, cal)
    check(path, data, cal, probes, expected["thresholds"])
    cal.save(folder / "again")
    again = type(cal).load(folder / "again")
    rounds = again.rounds
    for x in probes:
        again.update(np.array(x), 1.0, **more(again, "a"), **score(again, x))
    assert again.rounds == rounds + len(probes)
    check(path, data, again, probes, expected["after"])
    assert type(cal).from_state(again.state()).state() == again.state()


def check(path: Path, data: bytes, cal: Any, probes: list[list[float]], stored: list[str]) -> None:
    """Equal bit for bit; for loops that may round differently, equal to nine digits."""
    found = [float(cal.threshold(np.array(x), **more(cal, "a"))) for x in probes]
    expected = [float.fromhex(value) for value in stored]
    tolerance = {} if rounds_alike(cal) else NINE_DIGITS
    golden_files.thresholds_agree(path, data, found, expected, **tolerance)


@pytest.mark.parametrize("path", CASES)
def test_a_stored_state_resumes(path: Path, tmp_path: Path) -> None:
    resume(path, tmp_path)


def test_every_learner_has_golden_files_of_the_present_version_and_algorithm() -> None:
    missing = golden_files.missing_kinds(ALL)
    assert {*algorithms.PARTS} == {golden_files.kind_of(p.read_bytes()) for p in ALL}
    assert not missing, golden_files.NO_FILES.format(kinds=", ".join(missing), version=VERSION)


# ---- when an algorithm changes ---------------------------------------------------------------

STATE = GOLDEN / "states_v4" / "arc.bin"  # of algorithm 1


def set_changes(patch: pytest.MonkeyPatch, count: int) -> None:
    """As if the running constant, of which ARC consists, had changed so often."""
    patch.setitem(algorithms.CHANGES, "running constant", count)


def test_other_thresholds_need_a_higher_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_changes(monkeypatch, 0)
    before = ARC.threshold
    monkeypatch.setattr(ARC, "threshold", lambda cal, x: 1.01 * before(cal, x))
    with pytest.raises(AssertionError, match="raise what has changed in CHANGES"):
        resume(STATE, tmp_path)
    set_changes(monkeypatch, 1)
    resume(STATE, tmp_path)


def test_a_higher_number_excuses_no_other_sums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_changes(monkeypatch, 1)
    before = golden_files.sums_of
    more_rounds = {"rounds": 61}
    monkeypatch.setattr(golden_files, "sums_of", lambda cal: before(cal) | more_rounds)
    with pytest.raises(AssertionError, match=r"arc\.bin: its sums are not those stored"):
        resume(STATE, tmp_path)


def test_a_higher_number_needs_new_files(monkeypatch: pytest.MonkeyPatch) -> None:
    set_changes(monkeypatch, 10**6)
    with pytest.raises(AssertionError, match=r"of ARC, LARC, Mondrian, Panel are.*make_golden\.py"):
        test_every_learner_has_golden_files_of_the_present_version_and_algorithm()


def test_a_state_says_which_algorithm_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    set_changes(monkeypatch, 0)
    first = ARC(0.1).state()
    assert b"algorithm" not in first  # as in states from before there were numbers
    set_changes(monkeypatch, 1)
    later = ARC.from_state(first)
    assert (serialization.algorithm_of(first), later.algorithm) == (1, 2)
    assert serialization.algorithm_of(later.state()) == 2
    with pytest.raises(AttributeError, match="cannot be set"):
        later.algorithm = 1


def test_what_shares_a_part_changes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {kind: algorithms.number_of(kind) for kind in algorithms.PARTS}
    monkeypatch.setitem(algorithms.CHANGES, "betting", algorithms.CHANGES["betting"] + 1)
    raised = {kind for kind in before if algorithms.number_of(kind) > before[kind]}
    assert raised == {*algorithms.PARTS} - {"ARC", "LARC"}
