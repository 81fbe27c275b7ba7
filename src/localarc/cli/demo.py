"""`localarc demo`: a stream with an easy and a hard side, with ARC and with L-ARC."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import click

from localarc.cli.group import refusing
from localarc.cli.replay import replayed, tell


@click.command(short_help="See ARC and L-ARC on a stream with an easy and a hard side.")
@click.option("--rounds", type=int, default=6000, help="Rounds to replay.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the stream.")
@click.option(
    "--out", type=click.Path(path_type=Path), default="localarc-demo", help="Folder to write."
)
@click.option("--quiet", is_flag=True, help="Print nothing but notes and errors.")
def demo(rounds: int, seed: int, out: Path, quiet: bool) -> None:
    """Replay a synthetic stream with ARC and L-ARC; show who pays for the average.

    Writes the figure easy-hard.png, report.html and the stream itself, stream.csv, into the folder
    OUT.
    """
    with refusing():
        from localarc import ARC, LARC, RBF
        from localarc.reporting.assessment import assess
        from localarc.reporting.files import staged
        from localarc.reporting.html import render
        from localarc.streams.synthetic import heteroscedastic

        kernel = RBF.from_paper(0.3)
        with staged(out) as place:
            stream = heteroscedastic(rounds, seed)
            calibrators = {"ARC": ARC(alpha=0.1), "L-ARC": LARC(alpha=0.1, kernel=kernel)}
            runs = replayed(stream, calibrators, quiet)
            assessments = [assess(stream, run, kernel) for run in runs]
            _save_figure(place / "easy-hard.png", {run.name: run.record for run in runs})
            _save_stream(place / "stream.csv", stream)
            (place / "report.html").write_text(render(stream, assessments), encoding="utf-8")
    tell(assessments, [out / n for n in ("easy-hard.png", "stream.csv", "report.html")], quiet)


def _save_stream(path: Path, stream: Any) -> None:
    """The stream as a table that `localarc replay` reads."""
    scores = stream.curves.breakpoints[1::2]
    rows = zip(*stream.X.T.tolist(), scores.tolist(), stream.groups, strict=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*stream.features, "score", "third"])
        writer.writerows(rows)


def _save_figure(path: Path, records: dict[str, Any]) -> None:
    """Risk and set size by group, side by side, as one picture."""
    from matplotlib.figure import Figure

    from localarc.figures import group_risk, group_size

    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    group_risk(left, records)
    group_size(right, records)
    figure.savefig(path, dpi=160)
