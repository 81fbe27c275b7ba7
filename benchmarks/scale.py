"""Events a second for many keyed streams: `python -m benchmarks.scale`, in ten minutes at most.

Spark's rows need the extra `[spark]` and Java; without them they are left out, and said to be.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import TYPE_CHECKING

from benchmarks.__main__ import machine  # first: it holds BLAS to one thread

if TYPE_CHECKING:
    from rich.console import Console

    from benchmarks.in_process import Measured

SIZES = (1_000, 10_000, 100_000)


def main() -> None:
    from rich.console import Console

    from benchmarks import on_spark, sizes
    from benchmarks.in_process import in_process

    console = Console(width=150, highlight=False)
    console.print(machine())
    shown = show(console, "In one process, on one core", in_process(SIZES))
    console.print(sizes.table())
    if importlib.util.find_spec("pyspark") is None:
        missing = "Spark was not measured: pip install 'localarc[spark]', or make cluster."
        console.print(missing, markup=False)
        return
    loops = {row.keys: row.microseconds for row in shown if row.way == "loop over calibrators, ARC"}
    on_spark.show(console, SIZES, loops)


def show(console: Console, title: str, measured: Iterable[Measured]) -> list[Measured]:
    """A table of what is measured, which is returned; ratios are to the loop with as many keys."""
    from rich.table import Table

    names = "what", "keys", "us an event", "events a second", "x the loop", "bytes a key", "note"
    table = Table(*names, title=title, box=None, header_style="bold", title_justify="left")
    loops: dict[int, float] = {}
    rows = list(measured)
    for row in rows:
        if row.way.startswith("loop"):
            loops[row.keys] = row.microseconds
        ratio = f"{loops[row.keys] / row.microseconds:,.1f}" if row.keys in loops else ""
        size = "" if row.bytes_a_key is None else f"{row.bytes_a_key:,.0f}"
        per_second = f"{row.per_second:,.0f}"
        cells = row.way, f"{row.keys:,}", f"{row.microseconds:.2f}", per_second, ratio, size
        table.add_row(*cells, row.note)
    console.print(table)
    return rows


if __name__ == "__main__":
    main()
