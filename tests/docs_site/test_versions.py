"""Versions lie side by side: a list of them, the newest first, without a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

Hook = Callable[[str], ModuleType]


def test_the_list_has_every_version_and_the_first_page_opens_the_newest(
    hook: Hook, tmp_path: Path
) -> None:
    for version in ("0.9.0", "0.10.0rc1", "0.10.0", "dev"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").touch()
    (tmp_path / "notes").mkdir()  # no version: it has no front page
    hook("versions").on_post_build(config=SimpleNamespace(site_dir=str(tmp_path / "0.10.0")))
    listed = (tmp_path / "versions.js").read_text().removeprefix("var localarcVersions = ")
    assert json.loads(listed.rstrip(";\n")) == ["0.10.0", "0.10.0rc1", "0.9.0", "dev"]
    assert 'url=0.10.0/index.html"' in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("version", ["../elsewhere", "", ".", "a/b"])
def test_a_version_is_the_name_of_a_folder(
    hook: Hook, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setenv("SITE_VERSION", version)
    with pytest.raises(ValueError, match="SITE_VERSION must be a folder name"):
        hook("versions").on_config(SimpleNamespace(site_dir="build/site/current"))
