"""Navigation with patterns: an entry with a `*` lists the pages that match and are not yet listed.

Entries of pages that do not exist are left out, so that a section can wait for its pages; a page
that no entry lists is an error of the build.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Expand the patterns, when the hooks before this one have added their pages."""
    pages = sorted(file.src_uri for file in files.documentation_pages())
    named = set(_named(config.nav))
    config.nav = _expanded(config.nav, [page for page in pages if page not in named], set(pages))
    return files


def _named(entries: Any) -> Iterator[str]:
    for entry in entries:
        if isinstance(entry, dict):
            for value in entry.values():
                yield from _named(value)
        else:
            yield entry


def _expanded(entries: Any, unlisted: list[str], pages: set[str]) -> list[Any]:
    expanded: list[Any] = []
    for entry in entries:
        if isinstance(entry, dict):
            (title, inner), *_ = entry.items()
            if found := _expanded(inner, unlisted, pages):
                expanded.append({title: found})
        elif "*" in entry:
            matching = [page for page in unlisted if _matches(page, entry)]
            expanded += matching
            unlisted[:] = [page for page in unlisted if page not in matching]
        elif entry in pages:
            expanded.append(entry)
    return expanded


def _matches(page: str, pattern: str) -> bool:
    same_folder = PurePosixPath(page).parent == PurePosixPath(pattern).parent
    return same_folder and fnmatch(page, pattern)
