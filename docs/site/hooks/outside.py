"""Pages of the repository outside docs/ that the site shows: where they are, and links to them.

A page of docs/ may link to any text file of the repository. Such files become pages at their own
paths, Markdown as it is and everything else as a listing, and links between them are rewritten.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ALWAYS = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)\s#]+)(?=[)#])")
LISTINGS = {".py": "python", ".json": "json", ".yml": "yaml", ".yaml": "yaml", ".toml": "toml"}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/, and what they link to in turn."""
    root, docs = _folders(config)
    inside = [docs / file.src_uri for file in files.documentation_pages()]
    pages = inside + [root / name for name in ALWAYS if (root / name).exists()]
    for page in pages:  # grows as it is read
        if page.suffix == ".md":
            targets = (
                found for link in LINK.findall(_text(page)) if (found := _target(page, link))
            )
            pages += [new for new in targets if _is_outside(new, config) and new not in pages]
    for page in pages[len(inside) :]:
        file = File.generated(config, _address(page, config), content=_content(page, config))
        if page.name not in ALWAYS:
            file.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(file)
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let a page of docs/ link to the pages above."""
    if page.file.generated_by:
        return markdown
    return _relinked(markdown, Path(config.docs_dir, page.file.src_uri), config)


def _folders(config: MkDocsConfig) -> tuple[Path, Path]:
    return Path(config.config_file_path).resolve().parent, Path(config.docs_dir).resolve()


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _target(page: Path, link: str) -> Path | None:
    found = (page.parent / link).resolve()
    return found if found.is_file() else None


def _is_outside(target: Path, config: MkDocsConfig) -> bool:
    root, docs = _folders(config)
    return root in target.parents and docs not in target.parents and target != root / "README.md"


def _address(target: Path, config: MkDocsConfig) -> str:
    """Where a file of the repository is in the site's sources."""
    root, docs = _folders(config)
    if target == root / "README.md":  # the front page is its long form
        return "index.md"
    if docs in target.parents:
        return target.relative_to(docs).as_posix()
    address = target.relative_to(root).as_posix()
    return address if target.suffix == ".md" else f"{address}.md"


def _content(page: Path, config: MkDocsConfig) -> str:
    if page.suffix == ".md":
        return _relinked(_text(page), page, config)
    root, _ = _folders(config)
    language = LISTINGS.get(page.suffix, "text")
    title = page.relative_to(root).as_posix()
    return f"# `{title}`\n\n````{language}\n{_text(page)}````\n"


def _relinked(markdown: str, page: Path, config: MkDocsConfig) -> str:
    """The text with every link that crosses the border of docs/ led to the target's page."""
    _, docs = _folders(config)
    here = os.path.dirname(_address(page, config))

    def relinked(match: re.Match[str]) -> str:
        target = _target(page, match[1])
        if target is None or (docs in target.parents and docs in page.parents):
            return match[1]
        return os.path.relpath(_address(target, config), here or ".")

    return LINK.sub(relinked, markdown)
