"""Versions of the site side by side, a list of them, and a page that opens the newest.

Each version is a folder that works on its own. `versions.js` beside the folders lists them; a page
reads it as a script, which browsers also allow from a folder, and shows a menu. Nothing needs a
server or an address: copy the folders of several versions together and build once more.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

import localarc


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Build into the folder of this version."""
    version = os.environ.get("SITE_VERSION", localarc.__version__)
    if not re.fullmatch(r"[0-9A-Za-z][\w.+-]*", version):
        raise ValueError(f"SITE_VERSION must be a folder name such as 0.2.0, got {version!r}")
    config.site_dir = str(Path(config.site_dir).parent / version)
    config.theme.static_templates.discard("404.html")  # its links need a server and its address
    return config


def on_post_build(*, config: MkDocsConfig) -> None:
    """List the versions that are there, the newest first."""
    folder = Path(config.site_dir).parent
    found = {page.parent.name for page in folder.glob("*/index.html")}
    versions = sorted(found, key=_order, reverse=True)
    (folder / "versions.js").write_text(f"var localarcVersions = {json.dumps(versions)};\n")
    (folder / "index.html").write_text(_forward(f"{versions[0]}/index.html"))


def _order(version: str) -> tuple[tuple[int, ...], bool, str]:
    """Numbers count as numbers, and a release follows its pre-releases."""
    found = re.match(r"[\d.]*\d", version)
    release = found[0] if found else ""
    return tuple(map(int, release.split("."))) if release else (), release == version, version


def _forward(address: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>localarc</title>'
        f'<meta http-equiv="refresh" content="0; url={address}">'
        f'<a href="{address}">Documentation of localarc</a></html>\n'
    )
