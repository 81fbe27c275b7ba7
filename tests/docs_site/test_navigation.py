"""Navigation by patterns: every page once, in the order of the entries."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

Hook = Callable[[str], ModuleType]


def expanded(hook: Hook, nav: list[Any], pages: list[str]) -> Any:
    config = SimpleNamespace(nav=nav)
    files = [SimpleNamespace(src_uri=page) for page in pages]
    hook("navigation").on_files(SimpleNamespace(documentation_pages=lambda: files), config=config)
    return config.nav


def test_a_pattern_lists_the_pages_of_its_folder_by_name(hook: Hook) -> None:
    nav = [{"Jobs": ["jobs/*.md"]}]
    pages = ["jobs/labels.md", "jobs/bands.md", "jobs/deeper/page.md", "other.md"]
    assert expanded(hook, nav, pages) == [{"Jobs": ["jobs/bands.md", "jobs/labels.md"]}]


def test_a_page_that_is_named_anywhere_is_not_listed_again(hook: Hook) -> None:
    nav = [{"A": ["a/*.md"]}, {"B": ["a/second.md"]}]
    pages = ["a/first.md", "a/second.md"]
    assert expanded(hook, nav, pages) == [{"A": ["a/first.md"]}, {"B": ["a/second.md"]}]


def test_a_page_that_two_patterns_match_is_listed_by_the_first(hook: Hook) -> None:
    nav = [{"A": ["arena*.md"]}, {"B": ["*.md"]}]
    assert expanded(hook, nav, ["arena.md", "b.md"]) == [{"A": ["arena.md"]}, {"B": ["b.md"]}]


def test_a_section_waits_for_its_pages(hook: Hook) -> None:
    assert expanded(hook, [{"Jobs": ["jobs/*.md", "later.md"]}, "index.md"], ["index.md"]) == [
        "index.md"
    ]
