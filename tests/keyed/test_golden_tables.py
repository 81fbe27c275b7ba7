"""Tables stored by earlier versions open to the same thresholds, in this process and in a service.

A new version gets a folder of its own, written by `make_golden_tables.py`; older ones stay.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from hardware import rounds_alike
from keyed.make_golden_tables import CASES, continued
from localarc.keyed import KeyedStreams
from localarc.panel.table import FORMAT
from localarc.serialization import VERSION

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = sorted(GOLDEN.glob("tables_v*/*.parquet"))


def shown(path: Path) -> str:
    return f"{path.parent.name} {path.stem}"


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_a_stored_table_resumes(path: Path, tmp_path: Path) -> None:
    expected = json.loads((path.parent / "expected.json").read_text())[path.stem]
    streams = KeyedStreams.load(path)
    streams.save(tmp_path / "again.parquet")
    found = continued(KeyedStreams.load(tmp_path / "again.parquet"), path.stem)
    if rounds_alike(streams.panel.prototype):
        assert found == expected
    assert as_numbers(found) == pytest.approx(as_numbers(expected), abs=1e-9)


def as_numbers(values: list[str]) -> Any:
    return [float.fromhex(value) for value in values]


def test_the_present_version_has_golden_tables() -> None:
    folder = GOLDEN / f"tables_v{FORMAT}_{VERSION}"
    assert {path.stem for path in folder.glob("*.parquet")} == {*CASES}
