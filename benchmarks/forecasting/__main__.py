"""Measure bands: `python -m benchmarks.forecasting [CLAIM ...] [--json FILE]`."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.forecasting.report import main

    main()
