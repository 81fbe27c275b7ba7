"""Measure the peers: `python -m benchmarks.peers`."""

from benchmarks import machine

if __name__ == "__main__":
    machine.use_one_blas_thread()
    from benchmarks.peers.report import main

    main()
