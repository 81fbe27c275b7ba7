"""Recorded outputs are found in a clone and in the package localarc-data, or named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commands import assert_rejected, localarc
from localarc_lab.experiments import recorded as module
from localarc_lab.experiments.recorded import recorded


def test_a_clone_has_its_own() -> None:
    assert recorded("fruit", "outputs.npz.xz").is_relative_to(module._IN_A_CLONE)


def test_the_package_has_them_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "localarc_data" / "fruit"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "outputs.npz.xz").write_bytes(b"recorded")
    monkeypatch.setattr(module, "_IN_A_CLONE", tmp_path / "nowhere")
    monkeypatch.syspath_prepend(tmp_path)
    assert recorded("fruit", "outputs.npz.xz").read_bytes() == b"recorded"


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IN_A_CLONE", tmp_path / "nowhere")
    monkeypatch.setitem(sys.modules, "localarc_data", None)
    result = localarc("reproduce", "polyps", "--quick", "--out", tmp_path / "out")
    assert_rejected(result, "pip install ./packages/localarc-data")
