"""Print what gates answer, beside one threshold at the same error, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import machine
from benchmarks.auto.measured import with_error
from benchmarks.gate import methods
from benchmarks.gate.questions import TOPICS, Questions, recorded, simulated

ROUNDS = 20_000
SEEDS = range(4)
TARGETS = (0.1, 0.05)
OVERCONFIDENCE = {"strong": 3.0, "clear": 2.0, "mild": 1.0}


@dataclass(frozen=True)
class Row:
    """One method on one stream: shares with standard errors over seeds."""

    stream: str
    target: float
    method: str
    answered: str
    wrong: str
    by_topic: str = ""
    ratio: str = ""


def main() -> None:
    parser = machine.argument_parser("Measure gates.")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="also draw one run")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="repetitions")
    options = parser.parse_args()
    if options.figure:
        from benchmarks.gate.figure import draw

        draw(options.figure)
        return
    console = Console(width=150, highlight=False)
    console.print(machine.describe())
    rows = measure(range(options.seeds))
    console.print(table(rows))
    machine.write_json(options.json, rows=rows)


def measure(seeds: range) -> list[Row]:
    """Every stream at every target."""
    rows = []
    for name, extra in OVERCONFIDENCE.items():
        streams = [simulated(ROUNDS, seed, extra) for seed in seeds]
        for target in TARGETS:
            rows += compared(f"{name} over-confidence", streams, target)
    pictures = [recorded(seed) for seed in seeds]
    for target in (0.05, 0.02):
        rows.append(_row("recorded classifier", target, "gate", pictures, _gates(pictures, target)))
    return rows


def compared(name: str, streams: list[Questions], target: float) -> list[Row]:
    """The gate, its variants, and what one threshold answers at the same error."""
    gates = _gates(streams, target)
    errors = [made.error(stream) for made, stream in zip(gates, streams, strict=True)]
    best = [methods.best_threshold(s, e) for s, e in zip(streams, errors, strict=True)]
    ratios = [made.share / max(one, 1e-9) for made, one in zip(gates, best, strict=True)]
    audited = [methods.gated(stream, target, audits=0.05) for stream in streams]
    late = [methods.gated(stream, target, late=100) for stream in streams]
    blind = [methods.gated(stream, target, topics=False) for stream in streams]
    online = [methods.one_threshold_online(stream, target, rate=0.02) for stream in streams]
    ideal = [methods.best_by_topic_and_half(stream, target) for stream in streams]
    return [
        _row(name, target, "gate", streams, gates, with_error(ratios, 2)),
        _row(name, target, "gate, 5 % of the withheld audited", streams, audited),
        _row(name, target, "gate, outcomes 100 answers late", streams, late),
        _row(name, target, "gate without topics", streams, blind),
        _row(name, target, "one threshold, online", streams, online),
        Row(name, target, "one threshold, best in hindsight", *map(with_error, (best, errors))),
        Row(name, target, "best by topic and half, in hindsight", with_error(ideal), "target"),
    ]


def _gates(streams: list[Questions], target: float) -> list[methods.Decided]:
    return [methods.gated(stream, target) for stream in streams]


def _row(
    name: str,
    target: float,
    method: str,
    streams: list[Questions],
    made: list[methods.Decided],
    ratio: str = "",
) -> Row:
    pairs = list(zip(made, streams, strict=True))
    topics = [
        np.mean([one.error(stream, topic) for one, stream in pairs]) for topic in range(len(TOPICS))
    ]
    return Row(
        name,
        target,
        method,
        with_error([one.share for one in made]),
        with_error([one.error(stream) for one, stream in pairs], 4),
        " ".join(f"{value:.3f}" for value in topics if value),
        ratio,
    )


def table(rows: list[Row]) -> Table:
    """The rows as they are printed."""
    made = Table("stream", "target", "method", "answered", "wrong", "by topic", "ratio", box=None)
    for row in rows:
        made.add_row(
            row.stream,
            f"{row.target:g}",
            row.method,
            row.answered,
            row.wrong,
            row.by_topic,
            row.ratio,
        )
    return made
