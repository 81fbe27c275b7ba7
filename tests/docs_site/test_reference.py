"""The API reference has every public module, and every name of it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from test_public_face import MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(site: Path, module: str) -> None:
    page = (site / "reference" / f"{module}.html").read_text(encoding="utf-8")
    names = [name for name in importlib.import_module(module).__all__ if name != "__version__"]
    missing = [
        name for name in names if f'{module}.{name}"' not in page and f">{name}<" not in page
    ]
    assert missing == []


def test_a_struct_shows_its_signature_and_its_parameters(site: Path) -> None:
    page = (site / "reference" / "localarc_client.html").read_text(encoding="utf-8")
    entry = page.split('id="localarc_client.KernelConfig"')[1].split('id="localarc_client.Label')[0]
    assert "doc-signature" in entry
    assert entry.count("length_scale") >= 2
    assert "Length scale in the units of the features" in entry
