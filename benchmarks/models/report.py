"""Run the methods on every stream, and print tables, bars and where we lose."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.models import bars, drift, figure, interval_rows, label_rows, losses
from benchmarks.models.bars import Bar
from benchmarks.models.interval_rows import IntervalRow
from benchmarks.models.label_rows import LabelRow
from benchmarks.models.sources import CLASSIFICATION, REGRESSION
from benchmarks.models.streams import Source, Trained, train
from localarc.measures.text import number
from localarc_lab.data import DataError

ROUNDS, QUICK_ROUNDS = 15_000, 1_000
PEERS = ("mapie", "crepes", "river", "sklearn")
INSTALL = "pip install 'localarc[benchmarks]'"


def main() -> None:
    """Measure, print, and write JSON."""
    options = _options()
    console = Console(width=150, highlight=False)
    console.print(machine.describe(), markup=False)
    chosen = [source for source in REGRESSION if _wanted(source, options)]
    intervals = [row for trained in _trained(chosen, options, console) for row in _rows(trained)]
    chosen = [source for source in CLASSIFICATION if _wanted(source, options)]
    labels = [
        row
        for trained in _trained(chosen, options, console)
        for row in _label_rows(trained, options.draw)
    ]
    found = bars.of_intervals(intervals) + bars.of_labels(labels)
    for table in (interval_table(intervals), label_table(labels), bar_table(found)):
        console.print("", table)
    console.print("\nWhere we lose:")
    for line in losses.of_intervals(intervals) + losses.of_labels(labels):
        console.print(f"- {line}", markup=False)
    if options.figure is not None:
        figure.draw(intervals, options.figure)
    machine.write_json(options.json, intervals=intervals, labels=labels, bars=found)


def _options() -> argparse.Namespace:
    parser = machine.argument_parser("Compare wrapped models with MAPIE, crepes and river.")
    known = [source.name for source in (*REGRESSION, *CLASSIFICATION)]
    parser.add_argument("streams", nargs="*", metavar="STREAM", help=f"of {', '.join(known)}")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROUNDS:,} rounds at most")
    parser.add_argument("--figure", type=Path, metavar="PNG", help="also draw the worst thirds")
    parser.add_argument("--draw", type=int, choices=range(4), default=0, help="seeds and rows")
    options = parser.parse_args()
    unknown = set(options.streams) - set(known)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}. Known are {', '.join(known)}.")
    missing = [name for name in PEERS if find_spec(name) is None]
    if missing:
        parser.error(f"{', '.join(missing)} must be installed: {INSTALL}")
    return options


def _wanted(source: Source, options: argparse.Namespace) -> bool:
    return not options.streams or source.name in options.streams


def _trained(
    sources: list[Source], options: argparse.Namespace, console: Console
) -> Iterator[Trained]:
    """The trained models of the streams whose data are there."""
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    for source in sources:
        try:
            yield train(source, rounds, options.draw)
        except ImportError as error:
            console.print(f"{source.name} is skipped: {error}. {INSTALL}", markup=False)
        except DataError as error:
            console.print(f"{source.name} is skipped: {error}", markup=False)


def _rows(trained: Trained) -> list[IntervalRow]:
    return interval_rows.compare(trained.case())


def _label_rows(trained: Trained, draw: int) -> list[LabelRow]:
    found = []
    for version, make in drift.VERSIONS.items():
        found += label_rows.compare(make(trained, draw), trained.source.name, version)
    return found


# ---- tables --------------------------------------------------------------------------------------


def interval_table(rows: list[IntervalRow]) -> Table:
    """One line per stream and method."""
    columns = "stream", "rounds", "method", "coverage", "worst third", "distance", "width"
    table = _table("Regression", *columns, "infinite", "ours is nearer by", "")
    for row in rows:
        distance = f"{row.worst.distance:.3f} ± {row.worst.error:.3f}"
        nearer = f"{row.nearer:+.3f} ± {row.error:.3f}" if row.error else ""
        cells = (row.stream, f"{row.rounds:,}", row.method, f"{row.coverage:.3f}")
        more = (row.worst.where, distance, number(row.width), _share(row.infinite), nearer)
        table.add_row(*cells, *more, row.outcome if row.error else "")
    return table


def label_table(rows: list[LabelRow]) -> Table:
    """One line per version of a stream, and method."""
    columns = "stream", "version", "rounds", "method", "coverage", "classes", "fail", "worst class"
    table = _table("Classification", *columns, "coverage of it", "labels per set")
    for row in rows:
        worst = row.worst
        coverage = "" if worst is None else f"{worst.coverage:.3f} ± {worst.error:.3f}"
        table.add_row(
            *(row.stream, row.version, f"{row.rounds:,}", row.method, f"{row.coverage:.3f}"),
            *(f"{len(row.classes)}", f"{len(row.failing)}", "" if worst is None else worst.label),
            *(coverage, f"{row.size:.3f}"),
        )
    return table


def bar_table(found: list[Bar]) -> Table:
    """One line per claim."""
    table = _table("Bars", "claim", "measured", "met")
    for bar in found:
        table.add_row(bar.claim, bar.measured, "yes" if bar.met else "NO")
    return table


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, box=None, title_justify="left")


def _share(part: float) -> str:
    return f"{100.0 * part:.1f} %" if part else ""
