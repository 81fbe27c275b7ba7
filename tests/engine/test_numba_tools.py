"""Loops on disk: what different processes compiled, and what was compiled from other sources."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from localarc import constants
from localarc.engine import numba_tools

FOLDERS = "engine", "betting/compiled"
CODE = """
import sys
import numpy as np
from localarc import LARC, RBF, Laplace, Cauchy, KeepAll
kernels = {"rbf": RBF.from_paper(1.0), "laplace": Laplace(1.0), "cauchy": Cauchy(1.0)}
X = np.random.default_rng(0).normal(size=(40, 2))
for name in sys.argv[1:]:
    cal = LARC(0.1, kernels[name], memory=KeepAll()).partial_fit(X, np.tile([1.0, 0.0], 20))
    weights = np.tile([0.9, -0.1], 20) / np.sqrt(np.arange(1, 41))
    shrink = np.cumprod((1 - 1e-4 / np.sqrt(np.arange(1, 41)))[::-1])[::-1]
    shrink = np.append(shrink[1:], 1.0)
    expected = kernels[name](X, X) @ (weights * shrink) + weights.sum()
    assert np.allclose(cal.threshold(X), expected, atol=1e-12), name
    assert np.allclose([cal.threshold(x) for x in X], expected, atol=1e-12), name
"""


def run(cache: Path, *kernels: str) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-c", CODE, *kernels], check=True, env=environment)


@pytest.mark.slow  # compiles in several processes
def test_kernels_compiled_in_several_processes_do_not_mix(tmp_path: Path) -> None:
    run(tmp_path, "rbf")
    run(tmp_path, "laplace")  # compiled while no other kernel is there
    assert any(tmp_path.rglob("*.nbc"))
    run(tmp_path, "rbf", "laplace", "cauchy")  # two from disk, one compiled
    run(tmp_path, "cauchy", "laplace", "rbf")


def test_the_key_of_the_disk_cache_covers_every_module_that_is_compiled_in() -> None:
    package, covered = Path(constants.__file__).parent, set(numba_tools._sources())
    for source in [f for folder in FOLDERS for f in (package / folder).rglob("*.py")]:
        for module in _imported(source):
            path = package.parent / Path(*module.split("."))
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            assert file in covered, f"{source.name} compiles in what it imports from {module}"


def _imported(source: Path) -> set[str]:
    """The modules of the library that a source imports, by their full names."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("localarc."):
            found.add(str(node.module))
        elif isinstance(node, ast.ImportFrom) and node.module == "localarc":
            found |= {f"localarc.{alias.name}" for alias in node.names}
    return found


ONE_LOOP = """
import sys
sys.path.insert(0, sys.argv[1])
import loop
print(loop.memory())
"""
LOOP = """
import localarc.constants
from localarc.constants import MEMORY
from localarc.engine.numba_tools import compile_entry
assert localarc.constants.__file__.startswith(__file__.removesuffix("loop.py"))
def plain():
    return MEMORY
memory = compile_entry(plain)
"""


def test_a_changed_constant_is_compiled_in_though_the_loop_is_on_disk(tmp_path: Path) -> None:
    shutil.copytree(Path(constants.__file__).parent, tmp_path / "localarc")
    (tmp_path / "loop.py").write_text(LOOP)
    copy, cache = tmp_path / "localarc" / "constants.py", tmp_path / "cache"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", ONE_LOOP, str(tmp_path)]
    seen = []
    for change in ("MEMORY = 500.0", "MEMORY = 250.0"):
        copy.write_text(copy.read_text().replace("MEMORY = 500.0", change, 1))
        done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
        seen.append(float(done.stdout))
    assert seen == [500.0, 250.0]
    assert len(list(cache.rglob("*.nbi"))) == 2
