"""Megabytes on disk of localarc with each extra: `python -m benchmarks.install [EXTRA ...]`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import ROOT, argument_parser, describe, write_json

EXTRAS = ("", "plots", "models", "pandas", "parquet", "forecasting")
PACKAGES = {  # distributions of their own in this repository, with what they require of the others
    "localarc-client": ("localarc-client",),
    "localarc-service": (".", "localarc-client", "localarc-service"),
    "localarc-lab": (".", "localarc-lab"),
    "localarc-data": (".", "localarc-data"),
}
ARC_ALONE = "arc-alone"  # no extra: the least that ARC, Mondrian of ARC and `replay` run with
NAMES = {"": "localarc", ARC_ALONE: "localarc without numba"}
SHOWN = 3  # of the largest packages


@dataclass(frozen=True)
class Size:
    """Megabytes of everything that pip puts into an empty folder, and of the largest parts."""

    extra: str
    megabytes: float
    largest: dict[str, float]


def measure(extra: str) -> Size:
    """Install into an empty folder, without the bytecode that Python adds later."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target"]
        subprocess.run([*command, folder, *_wanted(extra)], check=True)
        parts = {path.name: _megabytes(path) for path in Path(folder).iterdir()}
    largest = sorted(parts, key=lambda name: -parts[name])[:SHOWN]
    return Size(extra, sum(parts.values()), {name: parts[name] for name in largest})


def _wanted(extra: str) -> list[str]:
    """What pip is asked for."""
    if extra == ARC_ALONE:
        return ["--no-deps", str(ROOT), "numpy"]
    if extra in PACKAGES:
        return [str(ROOT / "packages" / name if name != "." else ROOT) for name in PACKAGES[extra]]
    return [f"{ROOT}[{extra}]" if extra else str(ROOT)]


def _megabytes(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def main() -> None:
    """Print one line per extra."""
    parser = argument_parser("The size of each install.")
    parser.add_argument(
        "extras", nargs="*", metavar="EXTRA", default=(*EXTRAS, *PACKAGES, ARC_ALONE)
    )
    options = parser.parse_args()
    print(describe())
    sizes = []
    for extra in options.extras:
        sizes.append(measure(extra))
        parts = ", ".join(f"{name} {size:.0f}" for name, size in sizes[-1].largest.items())
        name = NAMES.get(extra, extra if extra in PACKAGES else f"localarc[{extra}]")
        print(f"{name:24}{sizes[-1].megabytes:8.0f} MB  ({parts})", flush=True)
    write_json(options.json, sizes=sizes)


if __name__ == "__main__":
    main()
