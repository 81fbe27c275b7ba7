"""Measure the service: `python -m benchmarks.service [--seconds 30] [--json FILE]`."""

from benchmarks.service.report import main

if __name__ == "__main__":
    main()
