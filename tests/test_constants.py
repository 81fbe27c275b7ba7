"""The learner's and the bettors' numbers: in one file of the library, and in one of the oracles."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import oracle_constants
from localarc import constants

HERE = Path(constants.__file__)
OURS, THEIRS = "src/localarc/constants.py", "tests/oracle_constants.py"


def named(module: Any) -> dict[str, float]:
    return {name: value for name, value in vars(module).items() if name.isupper()}


def differences(library: dict[str, float], oracle: dict[str, float]) -> list[str]:
    """What has to be changed, and in which file, so that both lists are the same."""
    return [
        f"{name} is {library.get(name, 'missing')} in {OURS} and {oracle.get(name, 'missing')} in "
        f"{THEIRS}: change both"
        for name in sorted({*library, *oracle})
        if library.get(name) != oracle.get(name)
    ]


def test_library_and_oracles_compute_with_the_same_numbers() -> None:
    found = differences(named(constants), named(oracle_constants))
    assert not found, "\n".join(found)


def test_a_number_that_is_changed_in_one_place_is_reported_with_both_places() -> None:
    changed = named(constants) | {"DEVIATIONS_PER_UNIT": 1.6, "NEW": 2.0}
    assert differences(changed, named(oracle_constants)) == [
        f"DEVIATIONS_PER_UNIT is 1.6 in {OURS} and 1.5 in {THEIRS}: change both",
        f"NEW is 2.0 in {OURS} and missing in {THEIRS}: change both",
    ]


def test_every_number_says_what_it_is() -> None:
    lines = [line for line in HERE.read_text().splitlines() if line[:1].isupper() and " = " in line]
    assert all("  # " in line for line in lines)
    assert len(lines) == len(named(constants))


def test_no_other_module_defines_one_of_them() -> None:
    names = set(named(constants))
    again = [
        f"{path.name}: {node.id}"
        for path in HERE.parent.rglob("*.py")
        if path != HERE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names
    ]
    assert not again, "import them from localarc.constants"


def test_every_number_is_used_by_the_library_and_by_an_oracle() -> None:
    library = used(HERE.parent, "localarc.constants")
    oracles = used(Path(__file__).parent, "oracle_constants")
    assert library == oracles == set(named(constants))


def used(folder: Path, module: str) -> set[str]:
    """The names that files of a folder import from a module."""
    return {
        alias.name
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == module
        for alias in node.names
    }
