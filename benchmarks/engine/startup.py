"""Startup: import, first compilation, and first call with a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from benchmarks.engine.cases import Row

_FIRST = """
import time
start = time.perf_counter()
import numpy as np
from localarc import LARC, RBF, KeepAll, replay
from localarc.curves import miscoverage
middle = time.perf_counter()
X = np.random.default_rng(0).normal(size=(64, 2))
replay(LARC(0.1, RBF.from_paper(1.0), memory={memory}), X, miscoverage(np.abs(X[:, 0])))
print(middle - start, time.perf_counter() - middle)
"""


def startup() -> Iterator[Row]:
    imported = min(_python("import localarc", time_it=True)[0] for _ in range(5))
    yield Row("import localarc", "a new process", f"{imported:.2f} s", "0.3 s", imported <= 0.3)
    for memory in ('"auto"', "KeepAll()"):
        with tempfile.TemporaryDirectory() as cache:
            cold, cached = (_python(_FIRST.format(memory=memory), cache)[1] for _ in range(2))
        work = f"first replay, memory={memory}"
        yield Row(work, "nothing compiled", f"{cold:.1f} s", "stated", None)
        yield Row(work, "compiled by an earlier process", f"{cached:.1f} s", "2 s", cached <= 2.0)


def _python(code: str, cache: str | None = None, time_it: bool = False) -> tuple[float, ...]:
    """The numbers that a new process prints, or the time that the code took in it."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    if time_it:
        code = (
            f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
        )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return tuple(float(number) for number in done.stdout.split())
