"""Benchmarks: speed as ratios, measured side by side in one run."""
