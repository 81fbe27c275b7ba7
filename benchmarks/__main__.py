"""Measure the engine: `python -m benchmarks [--json FILE]`."""

import sys

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    sys.path.insert(0, str(machine.ROOT / "tests"))  # for equations.py, the loop to compare with
    from benchmarks.engine.report import main

    main()
