"""Files outside docs/: what pages link to is in the site, and the links lead there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Hook = Callable[[str], ModuleType]


@pytest.fixture
def built(hook: Hook, tmp_path: Path) -> dict[str, str]:
    """The text of every page of a small repository, by its address in the site."""
    from mkdocs.config import load_config
    from mkdocs.structure.files import get_files
    from mkdocs.structure.pages import Page

    contents = {
        "docs/index.md": "[code](../src/tool.py) [notes](../src/notes.md#end) [page](deep/page.md)",
        "docs/deep/page.md": "[front](../../README.md) [none](../missing.md) [web](https://a.b/c.md)",
        "src/tool.py": "print('[x](y)')\n",
        "src/notes.md": "[tool](tool.py) [page](../docs/deep/page.md)",
        "CONTRIBUTING.md": "[index](docs/index.md) [plan](src/plan.md)",
        "src/plan.md": "a plan",
        "README.md": "not a page of its own",
    }
    for name, text in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    settings = f"site_name: x\nplugins: []\nhooks: [{hook('outside').__file__}]\n"
    (tmp_path / "mkdocs.yml").write_text(settings)
    config = load_config(str(tmp_path / "mkdocs.yml"))
    files = config.plugins.on_files(get_files(config), config=config)

    def shown(file: Any) -> str:
        page = Page(None, file, config)
        found = config.plugins.on_page_markdown(
            file.content_string, page=page, config=config, files=files
        )
        return str(found)

    return {file.src_uri: shown(file) for file in files.documentation_pages()}


def test_everything_that_is_linked_is_a_page(built: dict[str, str]) -> None:
    outside = {"CONTRIBUTING.md", "src/notes.md", "src/plan.md", "src/tool.py.md"}
    assert set(built) == {"index.md", "deep/page.md"} | outside


def test_links_across_the_border_of_docs_lead_to_the_pages(built: dict[str, str]) -> None:
    assert (
        built["index.md"] == "[code](src/tool.py.md) [notes](src/notes.md#end) [page](deep/page.md)"
    )
    assert built["src/notes.md"] == "[tool](tool.py.md) [page](../deep/page.md)"
    assert built["CONTRIBUTING.md"] == "[index](index.md) [plan](src/plan.md)"


def test_the_front_page_stands_for_the_readme_and_other_links_stay(built: dict[str, str]) -> None:
    assert (
        built["deep/page.md"]
        == "[front](../index.md) [none](../missing.md) [web](https://a.b/c.md)"
    )


def test_code_is_shown_as_it_is(built: dict[str, str]) -> None:
    assert "````python\nprint('[x](y)')\n````" in built["src/tool.py.md"]
