"""Tables stored by earlier versions open to the same thresholds, in this process and in a service.

A new version, and a raised algorithm, get a folder of their own, written by `make_golden.py`; older
ones stay.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

import golden_files
from golden_files import GOLDEN, NINE_DIGITS
from hardware import rounds_alike
from localarc.many import KeyedStreams
from localarc.many.panel.table import FORMAT, read_metadata
from localarc.serialization import VERSION
from many.make_golden_tables import CASES, continued

FILES = sorted(GOLDEN.glob("tables_v*/*.parquet"))


def shown(path: Path) -> str:
    return f"{path.parent.name} {path.stem}"


def prototype_in(path: Path) -> bytes:
    """The state of a table's prototype, which says what made the table."""
    return base64.b64decode(read_metadata(pyarrow.parquet.read_table(path))["prototype"])


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_a_stored_table_resumes(path: Path, tmp_path: Path) -> None:
    stored = json.loads((path.parent / "expected.json").read_text())[path.stem]
    streams = KeyedStreams.load(path)
    golden_files.sums_agree(path, streams.panel)
    streams.save(tmp_path / "again.parquet")
    again = KeyedStreams.load(tmp_path / "again.parquet")
    found, expected = as_numbers(continued(again, path.stem)), as_numbers(stored)
    tolerance = {} if rounds_alike(streams.panel.prototype) else NINE_DIGITS
    golden_files.thresholds_agree(path, prototype_in(path), found, expected, **tolerance)
    again.save(tmp_path / "later.parquet")
    later = KeyedStreams.load(tmp_path / "later.parquet").panel
    assert golden_files.sums_of(later) == golden_files.sums_of(again.panel)


def as_numbers(values: list[str]) -> Any:
    return [float.fromhex(value) for value in values]


def test_the_present_versions_and_algorithms_have_golden_tables() -> None:
    files = GOLDEN.glob(f"tables_v{FORMAT}_{VERSION}*/*.parquet")
    found = {path.stem for path in files if golden_files.is_present(prototype_in(path))}
    missing = ", ".join({*CASES} - found)
    assert not missing, golden_files.NO_FILES.format(kinds=f"tables of {missing}", version=VERSION)
