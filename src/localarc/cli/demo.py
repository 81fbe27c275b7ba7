"""`localarc demo`: AutoLARC and ARC on a stream with an easy and a hard side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localarc.cli.group import user_errors
from localarc.cli.options import QUIET
from localarc.cli.runs import print_results, run_all
from localarc.tables.csv import write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from localarc.calibrators.base import BaseCalibrator
    from localarc.calibrators.role import Calibrator
    from localarc.running.record import Record
    from localarc.streams import Stream

_OUTPUT_FILES = ("easy-hard.png", "stream.csv", "report.html")


@click.command(short_help="Compare AutoLARC and ARC on a synthetic stream.")
@click.option("--rounds", type=int, default=6000, help="Number of rounds.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Seed of the stream.")
@click.option(
    "--out", type=click.Path(path_type=Path), default="localarc-demo", help="Output folder."
)
@QUIET
def demo(rounds: int, seed: int, out: Path, quiet: bool) -> None:
    """Compare AutoLARC and ARC on a synthetic stream with an easy and a hard side.

    Both approach the target on average. AutoLARC, with nothing tuned, also does in every third;
    ARC misses far more in the hard one. Writes the figure easy-hard.png, report.html and the
    stream, stream.csv, to the folder OUT.
    """
    with user_errors():
        from localarc.cli.console import warnings_as_notes
        from localarc.reporting.assessment import assess
        from localarc.reporting.files import staged
        from localarc.reporting.html import render
        from localarc.reporting.neighbourhood import default_kernel
        from localarc.streams import heteroscedastic

        with staged(out, _OUTPUT_FILES) as folder, warnings_as_notes():
            stream = heteroscedastic(rounds, seed)
            runs = run_all(stream, calibrators(), quiet)
            kernel = default_kernel(stream, [run.calibrator for run in runs])
            assessments = [assess(stream, run, kernel) for run in runs]
            draw_groups(folder / "easy-hard.png", stream, calibrators())
            _save_stream(folder / "stream.csv", stream)
            (folder / "report.html").write_text(render(stream, assessments), encoding="utf-8")
    written = [out / name for name in _OUTPUT_FILES if (out / name).exists()]
    print_results(assessments, written, quiet)


def calibrators() -> dict[str, BaseCalibrator]:
    """Return the calibrators to compare; ARC has a rate with which it meets the target too."""
    from localarc import ARC, AutoLARC

    return {"AutoLARC": AutoLARC(alpha=0.1), "ARC": ARC(alpha=0.1, rate=5.0)}


def _save_stream(path: Path, stream: Stream) -> None:
    """Write the stream as a table that `localarc replay` reads."""
    scores = stream.curves.breakpoints[1::2]
    features = dict(zip(stream.features, stream.X.T.tolist(), strict=True))
    write_csv(path, features | {"score": scores.tolist(), "third": stream.groups or ()})


def draw_groups(path: Path, stream: Stream, calibrators: Mapping[str, Calibrator]) -> None:
    """Draw risk and set size per group, side by side; no method sees the groups."""
    from localarc.figures import group_risk, group_size
    from localarc.figures.canvas import save_picture

    records = {name: play(stream, calibrator) for name, calibrator in calibrators.items()}

    def draw(figure: Figure) -> None:
        left, right = figure.subplots(1, 2)
        group_risk(left, records)
        group_size(right, records)

    save_picture(path, (9.0, 3.4), draw)


def play(stream: Stream, calibrator: Calibrator) -> Record:
    """Replay without groups, and label the rounds afterwards."""
    from localarc import replay

    return replace(replay(calibrator, stream.X, stream.curves), groups=stream.groups)
