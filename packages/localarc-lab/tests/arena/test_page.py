"""The page of the arena: filled by one command, and complete."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.arena import fill, markdown

from localarc_lab.arena import SUITE
from localarc_lab.compare.methods import KNOWN

PAGE = Path(__file__).parents[4] / "docs" / "arena.md"


def section(name: str) -> str:
    text = PAGE.read_text(encoding="utf-8")
    return text.partition(f"<!-- {name} -->")[2].partition(f"<!-- end of {name} -->")[0]


def test_the_page_has_a_row_for_every_method_and_every_stream() -> None:
    rows = [line.split(" | ")[0].removeprefix("| ") for line in section("summary").splitlines()]
    assert rows[3:] == [known.title for known in KNOWN.values()]
    streams = [line.split(" | ")[0].removeprefix("| ") for line in section("streams").splitlines()]
    assert streams[3:] == list(SUITE)
    for name, entry in SUITE.items():
        assert f"<summary>{name}, target {entry.alpha:g}</summary>" in section("all")


def test_sections_are_replaced_and_the_rest_is_kept() -> None:
    page = "before <!-- a -->old<!-- end of a --> after"
    filled = fill(page, {"a": "new"})
    assert filled == "before <!-- a -->\nnew\n<!-- end of a --> after"
    assert fill(filled, {"a": "new"}) == filled
    with pytest.raises(ValueError, match="must have a section between <!-- b -->"):
        fill(page, {"b": "new"})


def test_times_which_differ_between_runs_are_not_on_the_page() -> None:
    table = markdown(["method", "us/round", "|risk|"], [["a", "3.1", "0.1"]])
    assert table == "| method | \\|risk\\| |\n| --- | --- |\n| a | 0.1 |"
