"""Print every claim with what was measured for it."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.auto import (
    evenness,
    harmless_rounds,
    labels,
    late_losses,
    overlapping_groups,
    own_streams,
    promises,
    units,
    weaknesses,
)
from benchmarks.auto.measured import Measured

CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "units": units.measure,
    "streams": own_streams.measure,
    "groups": overlapping_groups.measure,
    "harmless": harmless_rounds.measure,
    "labels": labels.measure,
    "late": late_losses.measure,
    "promises": promises.measure,
    "evenness": evenness.measure,
    "weaknesses": weaknesses.measure,
}


def main() -> None:
    parser = machine.argument_parser("Measure AutoLARC.")
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help=f"of {', '.join(CLAIMS)}")
    options = parser.parse_args()
    unknown = set(options.claims) - set(CLAIMS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}. Known are {', '.join(CLAIMS)}.")
    console = Console(width=150, highlight=False)
    console.print(machine.describe())
    rows: list[Measured] = []
    for claim in options.claims or CLAIMS:
        found = CLAIMS[claim]()
        console.print("", table(claim, found))
        rows += found
    machine.write_json(options.json, rows=rows)


def table(claim: str, rows: list[Measured]) -> Table:
    made = Table("stream", "what", "measured", "bar", "met", title=claim, box=None)
    made.title_justify = "left"
    for row in rows:
        met = {True: "yes", False: "NO", None: ""}[row.met]
        made.add_row(row.stream, row.what, row.value, row.bar, met)
    return made
