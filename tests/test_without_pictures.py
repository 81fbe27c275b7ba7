"""Without matplotlib, commands write everything but pictures, and name the extra."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import pytest

from commands import localarc, run_tune, write_rounds
from localarc.figures.canvas import new_figure

EXTRA = "pip install 'localarc[plots]'"


@pytest.fixture(autouse=True)
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_rounds(tmp_path / "rounds.csv")


def commands(table: Path) -> dict[str, tuple[list[object], set[str]]]:
    usual = ["--features", "x1,x2", "--score", "s", "--alpha", 0.1]
    return {
        "demo": (["demo", "--rounds", 300], {"stream.csv", "report.html"}),
        "replay": (["replay", table, *usual], {"record.csv", "summary.json", "report.html"}),
        "compare": (
            ["compare", table, *usual, "--methods", "aci,auto"],
            {"comparison.csv", "comparison.json", "report.html"},
        ),
        "reproduce": (
            ["reproduce", "polyps", "--quick", "--trials", 1, "--methods", "ARC"],
            {"results.json", "results.csv", "report.html"},
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo", "replay", "compare", "reproduce"])
def test_a_command_writes_everything_but_pictures(name: str, table: Path, tmp_path: Path) -> None:
    arguments, files = commands(table)[name]
    out = tmp_path / "out"
    result = localarc(*arguments, "--out", out)
    assert result.status == 0, result.stderr
    assert {path.name for path in out.iterdir() if path.is_file()} == files
    assert result.stderr.count(EXTRA) == 1
    assert ".png" not in result.stdout
    assert escape(EXTRA) in (out / "report.html").read_text(encoding="utf-8")


def test_tune_writes_its_table(table: Path, tmp_path: Path) -> None:
    result = run_tune(table, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tuning.csv"]
    assert EXTRA in result.stderr
    assert ".png" not in result.stdout


def test_a_figure_of_ones_own_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"localarc\[plots\]"):
        new_figure(4.0, 3.0)
