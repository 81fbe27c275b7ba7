"""The figure of docs/models.md and its numbers: `python -m benchmarks.model_page`."""
