"""Recorded outputs of our networks: in the package localarc-data, or in a clone."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from localarc.missing_data import DataError

_IN_A_CLONE = Path(__file__).parents[4] / "localarc-data" / "src" / "localarc_data"


def recorded(experiment: str, file: str) -> Path:
    """Find a file of an experiment; a clone's own comes first."""
    found = find_spec("localarc_data")
    installed = [Path(place) for place in found.submodule_search_locations or ()] if found else []
    for folder in (_IN_A_CLONE, *installed):
        path = folder / experiment / file
        if path.is_file():
            return path
    raise DataError(
        f"{experiment} replays recorded outputs of our network, which are not installed: "
        "in a clone of localarc, run pip install ./packages/localarc-data"
    )
