"""The speed of the calibrators, compared with a plain NumPy loop: `python -m benchmarks`."""
