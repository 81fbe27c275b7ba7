"""The description on a package index: README without what does not work there."""

from __future__ import annotations

import re
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("hatchling", "hatch_fancy_pypi_readme", "twine"):
        pytest.importorskip(package, reason=f"{package} is not installed: make site runs this")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def description(wheel: Path) -> str:
    with ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(files.read(name))
    assert metadata["Description-Content-Type"] == "text/markdown"
    return metadata.get_payload(decode=True).decode()  # type: ignore[union-attr]


def test_no_link_or_picture_is_relative(description: str) -> None:
    assert re.search(r"\]\((?!https?:)", README)
    assert re.findall(r"\]\((?!https?:)[^)]*\)", description) == []
    assert "![" not in description


def test_every_picture_is_described_and_named(description: str) -> None:
    pictures = re.findall(r"!\[(.+?)\]\((.+?)\)", README)
    assert pictures
    for text, path in pictures:
        assert f"*Picture: {text} (`{path}`).*" in description


def test_code_and_links_to_other_sites_are_those_of_the_readme(description: str) -> None:
    assert BLOCK.findall(description) == BLOCK.findall(README)
    links = re.findall(r"\]\((https?:[^)]+)\)", README)
    assert re.findall(r"\]\((https?:[^)]+)\)", description) == links


def test_the_index_accepts_it(wheel: Path) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel)]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
