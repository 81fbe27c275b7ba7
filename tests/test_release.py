"""What a release states about itself is the same in every file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from localarc.cli.elsewhere import COMMANDS as COMMANDS_ELSEWHERE

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = {  # the other distributions, by name
    path.parent.name: tomllib.loads(path.read_text())["project"]
    for path in sorted((ROOT / "packages").glob("*/pyproject.toml"))
}
ONE_VERSION = ("localarc-client", "localarc-lab", "localarc-service")


def found(pattern: str, file: str) -> list[str]:
    return re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_file_names_the_version_of_the_project() -> None:
    assert found(r"^version: (\S+)$", "CITATION.cff") == [PROJECT["version"]]
    assert found(r'^  version: "(\S+)"$', "packages/conda/recipe.yaml") == [PROJECT["version"]]


def test_the_distributions_have_one_version_and_require_each_other_in_it() -> None:
    version = PROJECT["version"]
    assert {PACKAGES[name]["version"] for name in ONE_VERSION} == {version}
    for name in ONE_VERSION:
        needed = [each for each in PACKAGES[name]["dependencies"] if each.startswith("localarc")]
        assert all(each.endswith(f"=={version}") for each in needed), name


def test_the_commands_of_other_distributions_are_known_where_they_are_missing() -> None:
    added = {
        name: tuple(sorted(project["entry-points"]["localarc.commands"]))
        for name, project in PACKAGES.items()
        if "entry-points" in project
    }
    assert added == COMMANDS_ELSEWHERE


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


def extras(project: dict[str, Any]) -> set[str]:
    return set(project.get("optional-dependencies", {}))


def test_install_commands_name_extras_and_packages_that_this_tree_has() -> None:
    assert len(COMMANDS) > 50
    for file, command in COMMANDS:
        for named in re.findall(r"(?:localarc|\.)\[([a-z,-]+)\]", command):
            assert set(named.split(",")) <= extras(PROJECT), file
        for package, named in re.findall(r"\./packages/([a-z-]+)(?:\[([a-z,-]+)\])?", command):
            assert set(filter(None, named.split(","))) <= extras(PACKAGES[package]), file


def test_the_commands_of_those_who_have_not_installed_it_yet_are_for_a_clone() -> None:
    first = [at for at in COMMANDS if at[0].startswith("docs/jobs/")]
    first.append(next(at for at in COMMANDS if at[0] == "docs/install.md"))
    assert len(first) > 10
    for file, command in first:
        assert command.startswith((".", "'.[")), f"{file}: {command}"


def test_no_extra_requires_a_package_that_only_this_tree_has() -> None:
    for project in (PROJECT, *PACKAGES.values()):
        for extra, required in project.get("optional-dependencies", {}).items():
            names = {re.split(r"[\[<>=;! ]", name)[0] for name in required}
            assert not names & set(PACKAGES), extra
