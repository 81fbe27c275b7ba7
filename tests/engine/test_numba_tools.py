"""Loops that different processes compiled live together in a third."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
