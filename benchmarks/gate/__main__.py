"""Measure gates: `python -m benchmarks.gate [--json FILE] [--figure FILE]`."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.gate.report import main

    main()
