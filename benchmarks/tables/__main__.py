"""How much faster pyarrow reads a large CSV file: `python -m benchmarks.tables`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.machine import argument_parser, describe, write_json
from localarc.tables.csv import read_any_csv
from localarc.tables.plain_csv import read_plain_csv

ROWS, REPEATS = 300_000, 5
NUMBERS, GROUP = ["a", "b", "c", "score"], "site"


def write(path: Path) -> None:
    """Four columns of numbers with all their digits, and a column of text."""
    random = np.random.default_rng(0)
    sites = random.choice(["north", "south"], ROWS).tolist()
    rows = zip(random.normal(size=(ROWS, len(NUMBERS))).tolist(), sites, strict=True)
    lines = (f"{','.join(map(repr, numbers))},{site}\n" for numbers, site in rows)
    path.write_text(",".join([*NUMBERS, GROUP]) + "\n" + "".join(lines), encoding="utf-8")


def main() -> None:
    """Print the least processor time of each reader, and the median of their ratios."""
    options = argument_parser("CSV files with and without pyarrow.").parse_args()
    print(describe())
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rounds.csv"
        write(path)
        for read in (read_plain_csv, read_any_csv):
            read(path, NUMBERS, GROUP)  # imports, and the file in memory
        for _ in range(REPEATS):
            times = []
            for read in (read_plain_csv, read_any_csv):
                start = time.process_time()
                read(path, NUMBERS, GROUP)
                times.append(time.process_time() - start)
            found.append(times)
        size = path.stat().st_size
    fast, slow = np.min(found, axis=0)
    ratio = float(np.median([slow / fast for fast, slow in found]))
    print(f"{ROWS:,} rows, {size / 1e6:.0f} MB: {fast:.2f} s with pyarrow, {slow:.2f} s without")
    print(f"median ratio of processor times: {ratio:.1f}")
    write_json(options.json, times=found, ratio=[ratio])


if __name__ == "__main__":
    main()
