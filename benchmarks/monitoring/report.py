"""Print false alarms, delays, recoveries and cost of monitors beside other tests."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.monitoring import cost, delays, false_alarms, recoveries

ROUNDS = 100_000


def main() -> None:
    parser = machine.argument_parser("Measure monitors.")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="only draw one stream")
    parser.add_argument("--streams", type=int, default=1000, help="streams of independent losses")
    parser.add_argument("--calibrated", type=int, default=200, help="streams of each calibrator")
    parser.add_argument("--jobs", type=int, default=1, help="processes for false alarms")
    options = parser.parse_args()
    if options.figure:
        from benchmarks.monitoring.figure import draw

        draw(options.figure)
        return
    console = Console(width=150, highlight=False)
    console.print(machine.describe())
    costs = cost.measure()
    console.print(_table("microseconds of CPU", costs))
    console.print(f"memory of a monitor: {cost.bytes_of_a_monitor():.0f} bytes\n")
    late = delays.measure(options.streams)
    console.print(_table("rounds from a rise of 0.05 above 0.1 to the alarm", late))
    ends = recoveries.measure(min(options.streams, 300))
    console.print(_table("broken streams that are called recovered", ends))
    alarms = false_alarms.measure(options.streams, options.calibrated, ROUNDS, options.jobs)
    console.print(_table("streams that keep their promise and raise an alarm", alarms))
    console.print(f"{time.process_time():.0f} s of CPU time")
    machine.write_json(options.json, costs=costs, delays=late, recoveries=ends, false_alarms=alarms)


def _table(title: str, rows: Sequence[Any]) -> Table:
    """Dataclasses as they are printed."""
    names = list(rows[0].__dataclass_fields__)
    made = Table(*(name.replace("_", " ") for name in names), title=title, box=None)
    for row in rows:
        made.add_row(*(_shown(getattr(row, name)) for name in names))
    return made


def _shown(value: Any) -> str:
    """A cell."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 or math.isinf(value) else f"{value:.3g}"
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
