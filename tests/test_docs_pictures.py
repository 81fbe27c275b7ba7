"""Every picture of the documentation has a command that draws it, and is shown somewhere."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURES = [path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.png")]


def patterns() -> list[str]:
    """The first column of the table of pictures."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("\n## Pictures\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+\.png)` \|", section, re.MULTILINE)


def test_contributors_find_one_command_for_every_picture() -> None:
    found = {name: [p for p in patterns() if fnmatch(name, p)] for name in PICTURES}
    assert {name: rows for name, rows in found.items() if len(rows) != 1} == {}
    assert [p for p in patterns() if not any(fnmatch(name, p) for name in PICTURES)] == []


def test_every_picture_is_shown_on_a_page() -> None:
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    shown = {
        (page.parent / target).resolve()
        for page in pages
        for target in re.findall(r"[(\"]([^()\"\s]+\.png)[)\"]", page.read_text(encoding="utf-8"))
    }
    assert [name for name in PICTURES if ROOT / "docs" / name not in shown] == []
