"""Measure AutoLARC: `python -m benchmarks.auto [CLAIM ...] [--json FILE]`."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.auto.report import main

    main()
