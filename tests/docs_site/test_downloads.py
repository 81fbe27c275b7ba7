"""Jobs in the built site: their downloads are there, linked, and made from the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
JOBS = sorted(page.stem for page in (ROOT / "docs" / "jobs").glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("name", JOBS)
def test_a_job_links_to_its_notebook_and_its_script(site: Path, name: str) -> None:
    page = (site / "jobs" / f"{name}.html").read_text(encoding="utf-8")
    assert f'href="{name}.ipynb"' in page
    assert f'href="{name}.py"' in page
    compile((site / "jobs" / f"{name}.py").read_text(encoding="utf-8"), name, "exec")
    assert json.loads((site / "jobs" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def test_the_gallery_has_no_downloads(site: Path) -> None:
    assert not (site / "jobs" / "index.ipynb").exists()
