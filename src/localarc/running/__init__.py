"""Running: replay, sweep, tune, warm up, and the record of a run."""
