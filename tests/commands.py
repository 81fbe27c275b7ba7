"""Commands run in-process, and the tables that they read."""

from __future__ import annotations

import contextlib
import csv
import io
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from localarc.cli import main
from localarc.streams import Stream, heteroscedastic

STREAM = heteroscedastic(400, seed=0)


@dataclass(frozen=True)
class Result:
    """The exit status and the output of a command."""

    status: int
    stdout: str
    stderr: str


def localarc(*arguments: object) -> Result:
    """Run a command in this process; a Python warning that it lets through is an error."""
    out, err = io.StringIO(), io.StringIO()
    status: object = None
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
    assert isinstance(status, int)
    return Result(status, out.getvalue(), err.getvalue())


def assert_rejected(result: Result, *expected: str) -> None:
    """The command failed with one line on standard error, which contains these words."""
    assert result.status == 2, result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("localarc: ")
    assert result.stdout == ""
    for words in expected:
        assert words in result.stderr


def write_rounds(path: Path, stream: Stream = STREAM) -> Path:
    """Rounds with two features, a score, the loss of a miss and a group."""
    scores = stream.curves.breakpoints[1::2].tolist()
    columns = stream.X.tolist(), scores, stream.groups or ["all"] * len(stream)
    rows = ([*x, score, 0.5, group] for x, score, group in zip(*columns, strict=True))
    return _write(path, ["x1", "x2", "s", "cost", "third"], rows)


def write_quantiles(path: Path) -> Path:
    """Rounds of quantile intervals, whose scores are negative when the outcome is inside."""
    scores = (STREAM.curves.breakpoints[1::2] - 0.5).tolist()
    rows = ([*x, score, 1.0] for x, score in zip(STREAM.X.tolist(), scores, strict=True))
    return _write(path, ["x1", "x2", "s", "w"], rows)


def _write(path: Path, header: list[str], rows: Iterable[list[object]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run_tune(file: Path, out: Path, *more: object) -> Result:
    """Tune with the usual columns and length scales."""
    usual = ["--features", "x1,x2", "--score", "s", "--alpha", "0.1", "--length-scales", "0.4,1.2"]
    return localarc("tune", file, *usual, "--out", out, *more)
