"""What a release states about itself is the same in every file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def found(pattern: str, file: str) -> list[str]:
    return re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_file_names_the_version_of_the_project() -> None:
    assert found(r"^version: (\S+)$", "CITATION.cff") == [PROJECT["version"]]
    assert found(r'^  version: "(\S+)"$', "packages/conda/recipe.yaml") == [PROJECT["version"]]


def test_the_changelog_begins_with_what_is_unreleased_and_then_this_version_and_its_date() -> None:
    first, second, *_ = found(r"^## (.*)$", "CHANGELOG.md")
    assert first == "Unreleased"
    assert re.fullmatch(rf"{re.escape(PROJECT['version'])} - \d{{4}}-\d\d-\d\d", second)


def test_the_conda_recipe_requires_what_the_project_requires() -> None:
    names = {re.split(r"[<>=]", required)[0] for required in PROJECT["dependencies"]}
    recipe = set(found(r"^    - ([a-z-]+) >=", "packages/conda/recipe.yaml"))
    assert names <= recipe


def test_the_extra_data_requires_the_data_package_of_this_tree() -> None:
    (version,) = found(r'^version = "(\d+\.\d+)\.\d+"$', "packages/localarc-data/pyproject.toml")
    assert PROJECT["optional-dependencies"]["data"] == [f"localarc-data>={version}"]
