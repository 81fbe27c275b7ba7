"""Jobs to download: every page of docs/jobs as a notebook and as a script.

Both are made from the page when the site is built. `python docs/site/hooks/jobs.py PAGE FOLDER`
makes them without the site.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

FOLDER = "jobs/"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)$\n?", re.MULTILINE)
RELATIVE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)\s]+\)")


class Cell(NamedTuple):
    """A piece of a page: prose, code, or what the code before it prints."""

    kind: str  # "prose", "python" or "text"
    text: str


def cells(page: str) -> list[Cell]:
    """The pieces of a page, in order."""
    found, end = [], 0
    for block in BLOCK.finditer(page):
        found += [Cell("prose", page[end : block.start()]), Cell(block[1], block[2])]
        end = block.end()
    pieces = [*found, Cell("prose", page[end:])]
    return [Cell(kind, text.strip("\n")) for kind, text in pieces if text.strip()]


def printed(page: str) -> str:
    """What a run of the page must print: its `text` blocks."""
    return "".join(f"{cell.text}\n" for cell in cells(page) if cell.kind == "text")


def script(page: str) -> str:
    """The page as a Python file: prose as comments, and no output."""
    parts = []
    for cell in cells(page):
        if cell.kind == "python":
            parts.append(cell.text)
        elif cell.kind == "prose" and (text := _plain(cell.text)):
            parts.append("\n".join(f"# {line}".rstrip() for line in text.splitlines()))
    return "\n\n".join(parts) + "\n"


def notebook(page: str) -> str:
    """The page as a Jupyter notebook of format 4.5, with what the code prints."""
    written: list[dict[str, object]] = []
    for cell in cells(page):
        if cell.kind == "text":
            written[-1]["outputs"] = [_output(cell.text)]
        elif cell.kind == "python":
            written.append(_cell("code", cell.text, execution_count=None, outputs=[]))
        elif text := _plain(cell.text):
            written.append(_cell("markdown", text))
    for number, one in enumerate(written):
        one["id"] = f"cell-{number}"
    python = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"cells": written, "metadata": {"kernelspec": python}}
    return json.dumps(content | {"nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _cell(kind: str, text: str, **more: object) -> dict[str, object]:
    return {"cell_type": kind, "metadata": {}, "source": text, **more}


def _output(text: str) -> dict[str, object]:
    return {"output_type": "stream", "name": "stdout", "text": f"{text}\n"}


def _plain(prose: str) -> str:
    """Prose without what leads nowhere in a download: the picture, and links to other pages."""
    return RELATIVE_LINK.sub(r"\1", PICTURE.sub("", prose)).strip("\n")


def downloads(name: str, page: str) -> dict[str, str]:
    """The files of a page, by name."""
    return {f"{name}.ipynb": notebook(page), f"{name}.py": script(page)}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the downloads to the site."""
    from mkdocs.structure.files import File

    for page in [file for file in files.documentation_pages() if _is_job(file.src_uri)]:
        made = downloads(Path(page.src_uri).stem, page.content_string)
        for name, content in made.items():
            files.append(File.generated(config, f"{FOLDER}{name}", content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link to the downloads below the title of a job."""
    if not _is_job(page.file.src_uri):
        return markdown
    name = Path(page.file.src_uri).stem
    title, rest = markdown.split("\n", 1)
    links = f"[Notebook]({name}.ipynb){{ download }} · [script]({name}.py){{ download }}"
    return f"{title}\n\n*Download:* {links}\n{rest}"


def _is_job(address: str) -> bool:
    return address.startswith(FOLDER) and address != f"{FOLDER}index.md"


def main(page: Path, folder: Path) -> None:
    """Write the downloads of one page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in downloads(page.stem, page.read_text(encoding="utf-8")).items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python docs/site/hooks/jobs.py PAGE FOLDER")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
