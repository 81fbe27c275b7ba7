"""Compare wrapped models: `python -m benchmarks.models [STREAM ...] [--quick] [--draw N]`."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.models.report import main

    main()
