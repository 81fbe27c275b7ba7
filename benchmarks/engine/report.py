"""Print every case, and draw the two figures of docs/performance.md."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.engine import cases, figures
from benchmarks.engine.cases import Growth, Row
from benchmarks.engine.startup import startup

_MAX_BYTES = {
    "Lattice, d = 2": 200_000,
    "Dictionary(1e-4), d = 7": 5_000_000,
    "AutoLARC, d = 2": 9_000_000,
    "AutoLARC, d = 7": 9_000_000,
}


def main() -> None:
    options = machine.argument_parser("Measure the engine.").parse_args()
    console = Console(width=170, highlight=False)
    console.print(machine.describe())
    rows: list[Row] = []

    def add(row: Row) -> None:
        rows.append(row)
        met = _yes_or_no(row)
        console.print(f"{row.what}; {row.work}: {row.value} (bar {row.bar}) {met} {row.note}")

    for part in (startup(), cases.python_calls(), cases.auto(), cases.against_the_loop()):
        for row in part:
            add(row)
    growth = list(cases.growth())
    for row in flatness(growth):
        add(row)
    costs = list(cases.costs())
    folder = machine.ROOT / "docs" / "performance"
    folder.mkdir(exist_ok=True)
    figures.growth(folder / "growth.png", growth)
    figures.costs(folder / "costs.png", costs)
    console.print("", table(rows), "", f"wrote {folder / 'growth.png'} and {folder / 'costs.png'}")
    machine.write_json(options.json, rows=rows, growth=growth, costs=costs)


def table(rows: list[Row]) -> Table:
    """All rows, aligned."""
    made = Table("what", "work", "measured", "bar", "met", "note", box=None, header_style="bold")
    for row in rows:
        made.add_row(row.what, row.work, row.value, row.bar, _yes_or_no(row), row.note)
    return made


def flatness(growth: list[Growth]) -> list[Row]:
    """How much slower a step gets until t = 1e6, and the size of the state then."""
    found: list[Row] = []
    for name, limit in _MAX_BYTES.items():
        mine = [point for point in growth if point.name == name]
        times = [point.microseconds for point in mine]
        spread = max(times) / min(times)
        held = mine[-1].bytes
        note = ", ".join(f"t = {point.t:,}: {point.microseconds:.2f} us" for point in mine)
        found.append(Row("growth", name, f"{spread:.2f}", "2", spread <= 2.0, note))
        size, bar = f"{held / 1e6:.2f} MB", f"{limit / 1e6:g} MB"
        found.append(Row("state at t = 1e6", name, size, bar, held <= limit))
    return found


def _yes_or_no(row: Row) -> str:
    return {True: "yes", False: "NO", None: ""}[row.met]
