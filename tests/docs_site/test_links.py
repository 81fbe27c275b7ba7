"""The link check finds what it is for, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Hook = Callable[[str], ModuleType]


def check(hook: Hook, folder: Path, body: str) -> list[str]:
    (folder / "index.html").write_text(body)
    (folder / "other.html").write_text('<h2 id="here">Here</h2>')
    (folder / "data.json").write_text("{}")
    return list(hook("links").problems(folder))


def test_links_to_pages_anchors_files_and_other_sites_are_good(hook: Hook, tmp_path: Path) -> None:
    targets = (
        "other.html",
        "other.html#here",
        "#",
        "data.json",
        "https://example.org/x",
        "mailto:a@b.c",
    )
    assert check(hook, tmp_path, "".join(f'<a href="{target}">x</a>' for target in targets)) == []


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("gone.html", "no such file"),
        ("other.html#gone", "no such anchor"),
        ("#gone", "no such anchor"),
        ("data.json#gone", "no such anchor"),
        ("/other.html", "an absolute path does not work from a folder"),
    ],
)
def test_a_link_that_leads_nowhere_is_a_problem(
    hook: Hook, tmp_path: Path, target: str, reason: str
) -> None:
    found = check(hook, tmp_path, f'<a href="{target}">x</a>')
    assert found == [f"index.html links to {target}: {reason}"]


@pytest.mark.parametrize(
    "element",
    [
        '<script src="https://example.org/x.js"></script>',
        '<link rel="stylesheet" href="//example.org/x.css">',
        '<img src="http://example.org/x.png">',
    ],
)
def test_a_resource_of_another_host_is_a_problem(hook: Hook, tmp_path: Path, element: str) -> None:
    (problem,) = check(hook, tmp_path, element)
    assert "index.html fetches" in problem


def test_a_picture_that_is_missing_is_a_problem(hook: Hook, tmp_path: Path) -> None:
    (problem,) = check(hook, tmp_path, '<img src="gone.png">')
    assert problem.endswith("no such file")
