"""The time that calibration adds to a model: `python -m benchmarks.model_speed`."""
