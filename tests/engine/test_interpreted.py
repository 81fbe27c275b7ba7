"""With `NUMBA_DISABLE_JIT=1` all loops run as plain Python, for debuggers and coverage."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from engine.interpreted_job import thresholds

JOB = Path(__file__).with_name("interpreted_job.py")


def test_every_engine_gives_the_same_thresholds_without_compiling() -> None:
    plain = subprocess.run(
        [sys.executable, JOB],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    interpreted, compiled = json.loads(plain.stdout), thresholds()
    assert interpreted.keys() == compiled.keys()
    for name, expected in compiled.items():
        np.testing.assert_allclose(interpreted[name], expected, rtol=1e-9, err_msg=name)
