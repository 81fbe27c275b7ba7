"""Models stored by earlier versions open and continue: Calibrated, Bands, Gate and LabelSets.

A new version of the state format gets a folder of its own, written by `make_golden_models.py`;
the folders of older versions stay as they are.
"""

import json
from pathlib import Path

import pytest

from localarc.serialization import VERSION
from make_golden_models import CASES

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("models_v*/*.bin"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_stored_model_continues(path: Path, tmp_path: Path) -> None:
    case = CASES[path.stem]
    case.load(path).save(tmp_path / "again")
    found = case.later(case.load(tmp_path / "again"))
    expected = json.loads((path.parent / "expected.json").read_text())[path.stem]
    assert found == pytest.approx([float.fromhex(value) for value in expected], abs=1e-9)


def test_the_present_version_has_golden_models() -> None:
    found = {path.stem for path in (GOLDEN / f"models_v{VERSION}").glob("*.bin")}
    assert found == {*CASES}
