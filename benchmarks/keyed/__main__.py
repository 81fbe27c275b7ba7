"""Measure keyed streams: `python -m benchmarks.keyed [--json FILE]`, up to ten minutes."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.keyed.report import main

    main()
