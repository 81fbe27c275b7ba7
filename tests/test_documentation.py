"""Every code block of README and docs runs, in order, in a folder of its own.

A `python` block is run as it stands; blocks of one page share their names. In a `console` block
every line that starts with `$` is run, and what is printed below it must come out.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
JOBS = ROOT / "docs" / "jobs"  # their code needs the packages of others: `make jobs` runs it
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Pages about other packages run where these are installed.
ENGINE = re.compile(
    r"^(?:import|from) (pyspark|mlflow|fastapi|statsforecast|mlforecast|darts|sktime)\b",
    re.MULTILINE,
)
RUN_BY = {"pyspark": "make cluster", "mlflow": "make models", "fastapi": "make service"}
# What installs or runs the whole project is run by .ci/run itself, on a clean checkout.
ELSEWHERE = ("make ", "pip install", "git clone", ".ci/run", "cd ")

# A page that is followed twice in one folder must find it as it was.
LEAVES_NOTHING = ("service.md",)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent != JOBS], ids=lambda page: page.name
)
def test_every_code_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in ENGINE.findall(page.read_text(encoding="utf-8")):
        runner = RUN_BY.get(engine, "make forecasting")
        pytest.importorskip(engine, reason=f"{page.name} needs {engine}: {runner} runs it")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for language, code in blocks(page):
        assert language in ("python", "console", "text", "json", "math"), f"{page}: {language!r}"
        if language == "python":
            exec(compile(code, str(page), "exec"), names)
        elif language == "console":
            run_console(code)
    if page.name in LEAVES_NOTHING:
        assert list(tmp_path.iterdir()) == []


def run_console(code: str) -> None:
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
        if command.startswith(ELSEWHERE):
            continue
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PATH": path, "COLUMNS": "100"},
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        printed = [line.rstrip() for line in done.stdout.splitlines()]
        for line in expected.splitlines():
            assert line.rstrip() in printed, f"{command}\nlacks: {line}\nin: {done.stdout}"


def test_every_relative_link_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_picture_has_alternative_text_of_several_words() -> None:
    for page in PAGES:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        for alternative, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text):
            assert len(alternative.split()) >= 3, f"{page.name}: {target}: {alternative!r}"
