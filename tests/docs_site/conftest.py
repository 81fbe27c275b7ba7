"""The hooks that build the site, and the site that `make site` built."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def hook() -> Callable[[str], ModuleType]:
    """Load one of docs/site/hooks by its name."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: make site runs this")

    def load(name: str) -> ModuleType:
        path = ROOT / "docs" / "site" / "hooks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"site_hook_{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the version that was built."""
    if "LOCALARC_SITE" not in os.environ:
        pytest.skip("LOCALARC_SITE names no built site: make site runs this")
    import localarc

    return (ROOT / os.environ["LOCALARC_SITE"] / localarc.__version__).resolve()


@pytest.fixture(scope="session")
def chromium(site: Path) -> Iterator[Any]:
    """The system's Chromium, which is required where the site was built."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
