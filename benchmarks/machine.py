"""The machine that is measured, and the options that all benchmarks share."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def use_one_blas_thread() -> None:
    """Limit BLAS to one thread; call this before NumPy is imported.

    Otherwise the NumPy loop that we compare with would look slow because its threads spin.
    """
    if "numpy" in sys.modules:
        raise RuntimeError("NumPy is imported already, and its number of threads is fixed.")
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"


def describe() -> str:
    """Processor, cores and versions, in one line."""
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    cores = os.cpu_count()
    return f"{processor()}, {cores} cores, Python {platform.python_version()}, {packages}"


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def argument_parser(description: str) -> argparse.ArgumentParser:
    """A parser with the option --json."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results as JSON")
    return parser


def write_json(path: Path | None, **tables: Sequence[Any]) -> None:
    """Write tables of dataclasses or dictionaries, with the machine, unless the path is None."""
    if path is None:
        return
    rows = {
        name: [row if isinstance(row, dict) else asdict(row) for row in table]
        for name, table in tables.items()
    }
    path.write_text(json.dumps({"machine": describe(), **rows}, indent=1) + "\n")
