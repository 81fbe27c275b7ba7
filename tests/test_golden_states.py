"""States stored by earlier versions open to the same thresholds and resume.

A new version of the state format gets a folder of its own, written by `make_golden_states.py`;
the folders of older versions stay as they are.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardware import rounds_alike
from localarc import ARC, LARC, AutoLARC, Mondrian
from localarc.serialization import VERSION
from make_golden_states import more, score

GOLDEN = Path(__file__).parent / "golden"
CASES = [
    pytest.param(
        folder,
        name,
        id=f"{folder.name} {name}",
        marks=[pytest.mark.slow] if name == "matern32_dictionary" else [],  # it compiles for long
    )
    for folder in sorted(GOLDEN.glob("states_v*"))
    for name in json.loads((folder / "expected.json").read_text())["states"]
]
CLASSES: dict[str, Any] = {"ARC": ARC, "LARC": LARC, "AutoLARC": AutoLARC, "Mondrian": Mondrian}


def assert_thresholds(cal: Any, probes: list[list[float]], expected: list[str]) -> None:
    """Equal bit for bit; for loops that may round differently, equal to nine digits."""
    found = [float(cal.threshold(np.array(x), **more(cal, "a"))) for x in probes]
    if rounds_alike(cal):
        assert [value.hex() for value in found] == expected
    assert found == pytest.approx([float.fromhex(value) for value in expected], abs=1e-9)


@pytest.mark.parametrize(("folder", "name"), CASES)
def test_a_stored_state_resumes(folder: Path, name: str, tmp_path: Path) -> None:
    stored = json.loads((folder / "expected.json").read_text())
    probes = [[float.fromhex(value) for value in x] for x in stored["probes"]]
    expected = stored["states"][name]
    cal = CLASSES[expected["class"]].load(folder / f"{name}.bin")
    assert_thresholds(cal, probes, expected["thresholds"])
    cal.save(tmp_path / "again")
    again = type(cal).load(tmp_path / "again")
    for x in probes:
        again.update(np.array(x), 1.0, **more(again, "a"), **score(again, x))
    assert_thresholds(again, probes, expected["after"])


def test_the_present_version_has_a_golden_folder() -> None:
    assert (GOLDEN / f"states_v{VERSION}" / "expected.json").exists()
