"""Print every claim about bands with what was measured for it."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from benchmarks import machine
from benchmarks.auto.measured import Measured
from benchmarks.auto.report import table
from benchmarks.forecasting import change_of_noise, coverage, speed

CLAIMS: dict[str, Callable[[], list[Measured]]] = {
    "elec2": coverage.measure_elec2,
    "wind": coverage.measure_wind,
    "temperature": coverage.measure_temperature,
    "speed": speed.measure,
    "mlforecast": change_of_noise.measure,
}
BY_DEFAULT = ("elec2", "speed")  # the others require packages of others


def main() -> None:
    parser = machine.argument_parser("Measure bands around forecasts.")
    parser.add_argument("claims", nargs="*", metavar="CLAIM", help=f"of {', '.join(CLAIMS)}")
    options = parser.parse_args()
    unknown = set(options.claims) - set(CLAIMS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}. Known are {', '.join(CLAIMS)}.")
    console = Console(width=150, highlight=False)
    console.print(machine.describe())
    rows: list[Measured] = []
    for claim in options.claims or BY_DEFAULT:
        found = CLAIMS[claim]()
        console.print("", table(claim, found))
        rows += found
    machine.write_json(options.json, rows=rows)
