"""What holds for golden files of every algorithm, and what only for those of the present one.

A format is read for ever: whatever algorithm made a state, it opens, its sums and the observed
numbers of its certificate are those in `golden/sums`, and it goes on. Thresholds are compared only
where the algorithm is still the one that made the state.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localarc import algorithms, serialization
from localarc.many.panel import Panel
from localarc.serialization import VERSION

GOLDEN = Path(__file__).parent / "golden"
SUMS = GOLDEN / "sums"
NINE_DIGITS = {"abs": 1e-9}
OTHER_ALGORITHM = (
    "{path}: {kind} computes other thresholds than stored, and sums are the same. If this is a "
    "change of the algorithm, raise what has changed in CHANGES of src/localarc/algorithms.py and "
    "write new golden files, `python tests/make_golden.py`. If not, find out what has changed."
)
NO_FILES = (
    "No golden files of {kinds} are of format {version} and the present algorithm. "
    "Write them with `python tests/make_golden.py`, and leave those that are there as they are."
)
OBSERVED = {  # what was seen, whatever is made of it
    *("rounds", "alpha", "risk", "accounted", "excess", "worst_stretch", "uninformed"),
    *("pending", "most_pending", "coverage", "times", "rows", "learned", "learned_coverage"),
    *("answered", "wrong", "withheld", "checked", "checked_wrong", "waiting", "forgotten"),
    *("groups", "series", "steps", "topics", "levels", "summary", "name"),
}


def kind_of(data: bytes) -> str:
    """The class that a state is of, as it is named today."""
    return serialization.decode(data)[0]


def is_present(data: bytes) -> bool:
    """Whether the algorithm that made a state is the present one."""
    return serialization.algorithm_of(data) == algorithms.number_of(kind_of(data))


def thresholds_agree(
    path: Path, data: bytes, found: list[float], expected: list[float], **tolerance: float
) -> None:
    """Fail if the present algorithm computes other thresholds than stored, an older one none.

    They are compared bit for bit, or by `pytest.approx` with a tolerance.
    """
    assert len(found) == len(expected)
    assert not any(math.isnan(value) for value in found)
    if is_present(data):
        alike = (
            pytest.approx(expected, tolerance.get("rel"), tolerance.get("abs"))
            if tolerance
            else expected
        )
        assert found == alike, OTHER_ALGORITHM.format(path=path.name, kind=kind_of(data))


# ---- sums ------------------------------------------------------------------------------------


def sums_of(model: Any) -> Any:
    """The sums of what was learned, and what its certificate observed, as JSON."""
    if isinstance(model, Panel):
        return {str(key): sums_of(model.calibrator(key)) for key in model.keys}
    made = model.certificate() if hasattr(model, "certificate") else model.summary()
    return _observed(made) | {"identity holds": getattr(made, "consistent", True)}


def _observed(made: Any) -> Any:
    if is_dataclass(made):
        values = {field.name: getattr(made, field.name) for field in fields(made)}
        return {name: _observed(part) for name, part in values.items() if name in OBSERVED}
    if isinstance(made, Mapping):
        return {repr(name): _observed(part) for name, part in made.items()}
    if isinstance(made, tuple):
        return [_observed(part) for part in made]
    if isinstance(made, float) and math.isnan(made):
        return None  # of no rounds
    return made.item() if isinstance(made, np.generic) else made


def sums_agree(path: Path, model: Any) -> None:
    """Fail unless what opened has the sums that the file was stored with."""
    stored = json.loads((SUMS / f"{path.parent.name}.json").read_text())
    assert sums_of(model) == stored[path.stem], f"{path.name}: its sums are not those stored"


def write_sums(folder: Path, models: Mapping[str, Any]) -> None:
    """Store the sums of a new folder's models, once."""
    SUMS.mkdir(exist_ok=True)
    found = {name: sums_of(model) for name, model in sorted(models.items())}
    with (SUMS / f"{folder.name}.json").open("x") as file:
        file.write(json.dumps(found, indent=1, allow_nan=False) + "\n")


# ---- folders ---------------------------------------------------------------------------------


def missing_kinds(files: list[Path], version: int = VERSION) -> list[str]:
    """Which kinds in these files have none of the present version and algorithm."""
    states = [path.read_bytes() for path in files]
    covered = {kind_of(data) for data in states if is_present(data) and format_of(data) == version}
    return sorted({kind_of(data) for data in states} - covered)


def format_of(data: bytes) -> int:
    """The version of a state's format."""
    length = int.from_bytes(data[8:12], "little")
    return int(json.loads(data[12 : 12 + length])["version"])
