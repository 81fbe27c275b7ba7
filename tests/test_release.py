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


COMMANDS = [
    (str(path.relative_to(ROOT)), command)
    for folder in ("README.md", "docs", "src", "packages", "benchmarks")
    for path in sorted([ROOT / folder] if folder.endswith(".md") else (ROOT / folder).rglob("*"))
    if path.suffix in {".md", ".py"}
    for command in re.findall(r"pip install ([^`\n]*)", path.read_text(encoding="utf-8"))
]


def test_install_commands_name_extras_and_packages_that_this_tree_has() -> None:
    assert len(COMMANDS) > 50
    for file, command in COMMANDS:
        for extras in re.findall(r"(?:localarc|\.)\[([a-z,-]+)\]", command):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"]), file
        for package in re.findall(r"\./(packages/[a-z-]+)", command):
            assert (ROOT / package / "pyproject.toml").exists(), file


def test_no_extra_requires_a_package_that_only_this_tree_has() -> None:
    """pip would look for it on an index, and end with "No matching distribution found"."""
    here = {path.parent.name for path in (ROOT / "packages").glob("*/pyproject.toml")}
    for extra, required in PROJECT["optional-dependencies"].items():
        names = {re.split(r"[\[<>=;! ]", name)[0] for name in required}
        assert not names & here, extra
