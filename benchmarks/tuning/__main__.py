"""Compare tuned with untuned L-ARC: `python -m benchmarks.tuning`, about eight minutes."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.tuning.report import main

    main()
