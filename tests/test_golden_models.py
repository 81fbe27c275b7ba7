"""Models stored by earlier versions open and continue: Calibrated, Bands, Gate, LabelSets, Panel.

A new version of the state format, and a raised algorithm, get a folder of their own, written by
`make_golden.py`; the folders of older ones stay as they are.
"""

import json
from pathlib import Path

import pytest

import golden_files
from golden_files import GOLDEN, NINE_DIGITS
from localarc.serialization import VERSION
from make_golden import MODELS
from make_golden_models import Case

FILES = sorted([*GOLDEN.glob("models_v*/*.bin"), *GOLDEN.glob("panels_v*/*.bin")])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_stored_model_continues(path: Path, tmp_path: Path) -> None:
    case: Case = MODELS[path.stem]
    golden_files.sums_agree(path, case.load(path))
    case.load(path).save(tmp_path / "again")
    again = case.load(tmp_path / "again")
    found = case.later(again)
    stored = json.loads((path.parent / "expected.json").read_text())[path.stem]
    expected = [float.fromhex(value) for value in stored]
    tolerance = {} if case.exact else NINE_DIGITS
    golden_files.thresholds_agree(path, path.read_bytes(), found, expected, **tolerance)
    again.save(tmp_path / "later")
    assert golden_files.sums_of(case.load(tmp_path / "later")) == golden_files.sums_of(again)


def test_the_present_version_has_golden_models() -> None:
    folders = f"models_v{VERSION}", f"panels_v{VERSION}"
    found = {path.stem for name in folders for path in (GOLDEN / name).glob("*.bin")}
    assert found == {*MODELS}
