"""Print events per second for many keyed streams.

The Spark cases need the extra `[spark]` and Java; without PySpark they are skipped.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.keyed import (
    bucket_steps,
    frames,
    runner,
    sections,
    spark_batch,
    state_sizes,
    state_table,
    table_sizes,
)
from benchmarks.keyed.cases import Measured, in_process

SIZES = (1_000, 10_000, 100_000)
SECTIONS = {
    "bucket": bucket_steps.measure,
    "frames": frames.measure,
    "spark-batch": spark_batch.measure,
    "state": state_table.measure,
    "runner": runner.measure,
}


def main() -> None:
    parser = machine.argument_parser("Measure keyed streams.")
    parser.add_argument("--only", choices=SECTIONS, help="measure one section, in a minute")
    options = parser.parse_args()
    console = Console(width=150, highlight=False)
    console.print(machine.describe())
    if options.only:
        measured = list(SECTIONS[options.only]())
        console.print(sections.table(options.only, measured))
        machine.write_json(options.json, **{options.only: measured})
        return
    shown = show(console, "In one process, on one core", in_process(SIZES))
    sizes = list(state_sizes.state_sizes())
    console.print(state_sizes.table(sizes))
    tables = list(table_sizes.table_sizes())
    console.print(table_sizes.table(tables))
    on_spark = []
    if importlib.util.find_spec("pyspark") is None:
        skipped = "Spark was not measured: pip install 'localarc[spark]', or make cluster."
        console.print(skipped, markup=False)
    else:
        from benchmarks.keyed import spark_cases

        loop = "loop over calibrators, ARC"
        loops = {row.keys: row.microseconds for row in shown if row.way == loop}
        on_spark = spark_cases.show(console, SIZES, loops)
    machine.write_json(
        options.json,
        in_process=shown,
        state_sizes=sizes,
        table_sizes=tables,
        on_spark=on_spark,
    )


def show(console: Console, title: str, measured: Iterable[Measured]) -> list[Measured]:
    """Print and return what is measured; ratios are to the loop with the same number of keys."""
    names = "what", "keys", "us per event", "events per second", "x the loop", "bytes per key"
    table = Table(*names, "note", title=title, box=None, header_style="bold", title_justify="left")
    loops: dict[int, float] = {}
    rows = list(measured)
    for row in rows:
        if row.way.startswith("loop"):
            loops[row.keys] = row.microseconds
        ratio = f"{loops[row.keys] / row.microseconds:,.1f}" if row.keys in loops else ""
        size = "" if row.bytes_per_key is None else f"{row.bytes_per_key:,.0f}"
        per_second = f"{row.per_second:,.0f}"
        cells = row.way, f"{row.keys:,}", f"{row.microseconds:.2f}", per_second, ratio, size
        table.add_row(*cells, row.note)
    console.print(table)
    return rows
