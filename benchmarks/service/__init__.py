"""The HTTP service under load: `python -m benchmarks.service`."""
