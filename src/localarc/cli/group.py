"""The command `localarc`: options in, library calls, and what they made out."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from localarc import options
from localarc.summary import version


class BadInput(click.ClickException):
    """Input that cannot be used; the message says what to do."""

    exit_code = 2


class OneSentence(click.Group):
    """A group whose errors are one sentence on standard error and exit code 2."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command and leave with its exit code."""
        try:
            fixed = {"prog_name": "localarc", "standalone_mode": False}
            result = super().main(*args, **{**extra, **fixed})
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(2)
        except click.ClickException as error:
            click.echo(f"localarc: {' '.join(error.format_message().split())}", err=True)
            sys.exit(2)
        except (click.Abort, KeyboardInterrupt):
            click.echo("localarc: stopped; nothing was written.", err=True)
            sys.exit(130)
        sys.exit(result if isinstance(result, int) else 0)


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Errors that tell the user what to do become the command's one sentence."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{error.filename or 'file'}: {error.strerror or error}.") from error
    except (ValueError, TypeError, ImportError) as error:
        raise BadInput(str(error)) from error


_CONTEXT = {"help_option_names": ["-h", "--help"], "show_default": True}


@click.group(cls=OneSentence, context_settings=_CONTEXT)
@click.version_option(version(), prog_name="localarc")
def main() -> None:
    """Promise how often a running model fails, overall and for every kind of input."""


@main.command(name="replay", short_help="Calibrate the rounds of a table, and report.")
@click.argument("file", type=click.Path(path_type=Path))
@options.replay_options
def replay_command(
    file: Path, out: Path, table: str, quiet: bool, compare: bool, **given: Any
) -> None:
    """Replay FILE, a CSV or Parquet table with one round a row, in the order of time.

    Writes record.csv (threshold, loss and set size of each round), summary.json and report.html
    into the folder OUT. Scale features first if their units differ: the kernel measures distance
    across all of them.

    \b
    Example:
      localarc replay scores.csv --features hour,demand --score residual --group season \\
        --alpha 0.1 --method larc --length-scale 0.5 --compare --out results
    """
    with refusing():
        from localarc.results import check_table, staged, write_results
        from localarc.streams.table import read_table

        check_table(table)
        choice = options.choice(compare, **given)
        columns = {name: given[name] for name in ("features", "score", "loss", "group")}
        with staged(out) as place:
            stream = read_table(file, **columns, loss_bound=given["loss_bound"])
            runs = _replayed(stream, choice.calibrators, quiet)
            assessments = write_results(place, stream, runs, choice.kernel, table)
    _tell(assessments, [out / f"record.{table}", out / "summary.json", out / "report.html"], quiet)


@main.command(short_help="See ARC and L-ARC on a stream with an easy and a hard side.")
@click.option("--rounds", type=int, default=6000, help="Rounds to replay.")
@click.option("--seed", type=int, default=0, help="Seed of the stream.")
@click.option(
    "--out", type=click.Path(path_type=Path), default="localarc-demo", help="Folder to write."
)
@click.option("--quiet", is_flag=True, help="Print nothing but notes and errors.")
def demo(rounds: int, seed: int, out: Path, quiet: bool) -> None:
    """Replay a synthetic stream with ARC and L-ARC; show who pays for the average.

    Writes the figure easy-hard.png and report.html into the folder OUT.
    """
    with refusing():
        from localarc import demo as library
        from localarc.report import render
        from localarc.results import staged
        from localarc.summary import assess

        with staged(out) as place:
            stream = library.stream(rounds, seed)
            runs = _replayed(stream, library.calibrators(), quiet)
            assessments = [assess(stream, run, library.KERNEL) for run in runs]
            library.save_figure(place / "easy-hard.png", {run.name: run.record for run in runs})
            (place / "report.html").write_text(render(stream, assessments), encoding="utf-8")
    _tell(assessments, [out / "easy-hard.png", out / "report.html"], quiet)


def _replayed(stream: Any, calibrators: dict[str, Any], quiet: bool) -> list[Any]:
    from localarc import replay
    from localarc.console import progress_bar, warnings_as_notes
    from localarc.summary import Run

    total = len(stream) * len(calibrators)
    with warnings_as_notes(), progress_bar(total, quiet) as progress:
        return [
            Run(name, each, replay(each, stream.X, stream.curves, stream.groups, progress))
            for name, each in calibrators.items()
        ]


def _tell(assessments: list[Any], paths: list[Path], quiet: bool) -> None:
    if quiet:
        return
    from localarc.console import print_tables

    print_tables(assessments)
    for path in paths:
        click.echo(f"wrote {path}")


if __name__ == "__main__":
    main()
