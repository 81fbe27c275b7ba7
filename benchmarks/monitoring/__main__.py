"""Measure monitors: `python -m benchmarks.monitoring [--json FILE] [--figure FILE]`."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.monitoring.report import main

    main()
