"""Events per second for many keyed streams: `python -m benchmarks.keyed`."""
