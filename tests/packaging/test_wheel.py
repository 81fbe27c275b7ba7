"""What a user installs: built from the source distribution, in an environment of its own.

`make package` runs these. Nothing here sees the source tree: commands run in an empty folder.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from interpreters import interpreters

pytestmark = pytest.mark.package
ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"
PROJECTS = (ROOT, *(path.parent for path in sorted(PACKAGES.glob("*/pyproject.toml"))))


def run(folder: Path, *command: object, fails: bool = False) -> str:
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Source distributions, and wheels that were built from them."""
    folder = tmp_path_factory.mktemp("dist")
    for project in PROJECTS:
        run(folder, sys.executable, "-m", "build", "--outdir", folder, project)
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (found,) = built.glob("localarc-*.whl")
    return found


@pytest.fixture(scope="session")
def home(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with an environment that has the wheel and its dependencies alone."""
    folder = tmp_path_factory.mktemp("home")
    run(folder, sys.executable, "-m", "venv", "env")
    pip(folder, "-c", ROOT / "constraints.txt", wheel)
    return folder


def wheels(built: Path, *names: str) -> list[Path]:
    """Wheels of other distributions, by the second part of their names."""
    return [path for name in names for path in built.glob(f"localarc_{name}-*.whl")]


def pip(folder: Path, *what: object) -> None:
    run(folder, "env/bin/python", "-m", "pip", "install", "--quiet", *what)


@pytest.mark.parametrize("python", interpreters())
def test_the_wheel_runs_on_every_interpreter_that_is_here(
    python: str, wheel: Path, tmp_path: Path
) -> None:
    run(tmp_path, python, "-m", "venv", "env")
    pip(tmp_path, "-c", ROOT / "constraints.txt", wheel)
    run(tmp_path, "env/bin/localarc", "demo", "--rounds", 300, "--out", "demo")
    code = """
import numpy as np
from localarc import AutoLARC, LARC, RBF, replay
from localarc.curves import miscoverage
X, scores = np.random.default_rng(0).uniform(size=(2, 1000))
for cal in (AutoLARC(alpha=0.1), LARC(alpha=0.1, kernel=RBF(0.3))):
    assert abs(replay(cal, X, miscoverage(scores)).risk - 0.1) < 0.03
    assert type(cal).from_state(cal.state()).threshold(X[:1]) == cal.threshold(X[:1])
"""
    run(tmp_path, "env/bin/python", "-W", "error", "-c", code)


def test_the_package_index_accepts_the_files(built: Path) -> None:
    run(built, sys.executable, "-m", "twine", "check", "--strict", *sorted(built.iterdir()))


def test_the_wheel_is_small_and_has_no_data(wheel: Path) -> None:
    files = zipfile.ZipFile(wheel).infolist()
    assert not [file.filename for file in files if file.filename.endswith((".npz", ".xz", ".png"))]
    assert wheel.stat().st_size < 1_500_000


def test_the_demo_runs_without_the_source_tree(home: Path) -> None:
    said = run(home, "env/bin/localarc", "demo", "--rounds", 300, "--out", "demo")
    assert "pip install 'localarc[plots]'" in said
    assert {path.name for path in (home / "demo").iterdir()} == {"report.html", "stream.csv"}


def test_every_module_without_an_extra_is_importable(home: Path) -> None:
    names = ["kernels", "rates", "memory", "guarantees", "curves", "sets", "measures", "many"]
    names += ["streams", "reporting.files", "figures", "testing"]
    run(home, "env/bin/python", "-c", "\n".join(f"import localarc.{name}" for name in names))


def test_an_extra_that_is_missing_is_named(home: Path) -> None:
    said = run(home, "env/bin/python", "-c", "from localarc.models import Calibrated", fails=True)
    assert "localarc[models]" in said


def test_another_distribution_adds_its_commands(home: Path, built: Path) -> None:
    said = run(home, "env/bin/localarc", "serve", "--data", "folder", fails=True)
    assert "in localarc-service, which is not installed: pip install localarc-service" in said
    pip(home, "-c", ROOT / "constraints.txt", *wheels(built, "client", "service"))
    assert "Start the HTTP service" in run(home, "env/bin/localarc", "serve", "--help")


def test_recorded_outputs_come_with_their_package(home: Path, built: Path) -> None:
    pip(home, "-c", ROOT / "constraints.txt", *wheels(built, "lab"))
    command = "env/bin/localarc", "reproduce", "polyps", "--quick", "--trials", 1
    said = run(home, *command, "--out", "polyps", fails=True)
    assert "pip install ./packages/localarc-data" in said
    pip(home, *wheels(built, "data"))
    run(home, *command, "--methods", "ARC", "--out", "polyps")
    assert (home / "polyps" / "report.html").exists()


def test_the_client_installs_httpx_and_msgspec_and_nothing_of_the_library(
    built: Path, tmp_path: Path
) -> None:
    (client,) = wheels(built, "client")
    command = sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", "site"
    run(tmp_path, *command, "-c", ROOT / "constraints.txt", client)
    site = tmp_path / "site"
    assert not {"numpy", "numba", "localarc"} & {path.name for path in site.iterdir()}
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 10e6
    code = "import sys; sys.path.insert(0, 'site'); from localarc_client import Client"
    run(tmp_path, sys.executable, "-I", "-c", code)


def test_the_command_that_the_page_names_installs_the_service_in_a_clone(tmp_path: Path) -> None:
    run(tmp_path, sys.executable, "-m", "venv", "env")
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    (named,) = re.findall(r"^\$ pip install (.*)$", page, re.MULTILINE)
    pip(tmp_path, "-c", ROOT / "constraints.txt", *(ROOT / each for each in named.split()))
    assert "Start the HTTP service" in run(tmp_path, "env/bin/localarc", "serve", "--help")


def test_arc_runs_without_numba(home: Path) -> None:
    run(home, "env/bin/python", "-m", "pip", "uninstall", "--quiet", "--yes", "numba", "llvmlite")
    code = """
import numpy as np
from localarc import ARC, Mondrian, Panel, replay
from localarc.curves import miscoverage
panel = Panel(ARC(alpha=0.1)).update(["ann", "bob"], None, [1.0, 0.0])
panel.replay(["ann"], None, miscoverage([0.5]))
cal = Mondrian(lambda: ARC(alpha=0.1))
cal.update(None, 1.0, groups="north")
scores = np.random.default_rng(0).uniform(size=1000)
found = replay(ARC(alpha=0.1), np.zeros((1000, 1)), miscoverage(scores))
assert abs(found.losses.mean() - 0.1) < 0.02, found.losses.mean()
"""
    run(home, "env/bin/python", "-c", code)
