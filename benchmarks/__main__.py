"""Print every row, and draw the two figures of docs/performance.md: `make bench`."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.rows import Row

# One BLAS thread for everybody, set before NumPy is there: the loop must not look slow by spinning.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_name] = "1"

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))  # for equations.py, the loop to compare with


def main() -> None:
    from rich.console import Console
    from rich.table import Table

    from benchmarks import drawings, rows
    from benchmarks.start import start

    console = Console(width=170, highlight=False)
    console.print(machine())
    table = Table("what", "work", "measured", "bar", "met", "note", box=None, header_style="bold")

    def add(row: Row) -> None:
        met = {True: "yes", False: "NO", None: ""}[row.met]
        table.add_row(row.what, row.work, row.value, row.bar, met, row.note)
        console.print(f"{row.what}; {row.work}: {row.value} (bar {row.bar}) {met} {row.note}")

    for part in (start(), rows.python_calls(), rows.against_the_loop()):
        for row in part:
            add(row)
    grown = list(rows.growth())
    for row in flatness(grown):
        add(row)
    folder = ROOT / "docs" / "performance"
    folder.mkdir(exist_ok=True)
    drawings.growth(folder / "growth.png", grown)
    drawings.costs(folder / "costs.png", list(rows.costs()))
    console.print("", table, "", f"wrote {folder / 'growth.png'} and {folder / 'costs.png'}")


def flatness(grown: list[tuple[str, int, float, int]]) -> list[Row]:
    from benchmarks.rows import Row

    found: list[Row] = []
    for name, limit in (("Lattice, d = 2", 200_000), ("Dictionary(1e-4), d = 7", 5_000_000)):
        mine = [each for each in grown if each[0] == name]
        times = [each[2] for each in mine]
        spread = max(times) / min(times)
        bytes_held = mine[-1][3]
        note = ", ".join(f"t = {t:,}: {us:.2f} us" for _, t, us, _ in mine)
        found.append(Row("growth", name, f"{spread:.2f}", "2", spread <= 2.0, note))
        size = f"{bytes_held / 1e6:.2f} MB"
        found.append(
            Row("state at t = 1e6", name, size, f"{limit / 1e6:g} MB", bytes_held <= limit)
        )
    return found


def machine() -> str:
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba"))
    cores = os.cpu_count()
    return f"{processor()}, {cores} cores, Python {platform.python_version()}, {packages}"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
