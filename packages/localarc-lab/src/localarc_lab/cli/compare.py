"""`localarc compare`: several methods on the rounds of one file, and a table."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localarc.cli import options
from localarc.cli.group import resumable, user_errors
from localarc.cli.replay import NO_SIZES
from localarc.kernels import KERNELS

if TYPE_CHECKING:
    from localarc.kernels import Kernel
    from localarc.streams import Stream, StreamFile
    from localarc.validation import FloatArray
    from localarc_lab.compare import Comparison

_REQUIRED = (
    "compare requires FILE, --score, --alpha and --out; a file such as my.toml states score and "
    "alpha."
)
_OPTIONS: list[options.Option] = [
    click.option(
        "--methods",
        callback=options.names,
        metavar="A,B",
        help="Names of methods, which --list shows, or classes of your own such as "
        "my_method.py:Mine.  [default: auto, arc, aci, dtaci, pid, saocp and rolling; larc too if "
        "--kernel or --length-scale is given]",
    ),
    click.option("--features", callback=options.names, metavar="A,B", help="Columns of the input."),
    click.option("--score", help="Column with the score of the true outcome.  [required]"),
    *options.ROUNDS[1:],
    click.option("--group", help="Column with the group."),
    click.option(
        "--alpha",
        callback=options.numbers,
        metavar="A,A",
        help="Target risk, or several: the mean loss you accept.  [required]",
    ),
    click.option(
        "--delay",
        default="0",
        metavar="N",
        help="After how many further rounds a loss is known: a number, or a column.",
    ),
    click.option("--loss-bound", type=float, default=1.0, help="Largest possible loss."),
    click.option(
        "--kernel",
        type=click.Choice(list(KERNELS)),
        metavar="NAME",
        help=f"Kernel of L-ARC: {', '.join(KERNELS)}.  [default: rbf]",
    ),
    click.option(
        "--length-scale",
        callback=options.length_scale,
        metavar="L",
        help="Length scale of L-ARC's kernel, in the units of the features; one number, or one per "
        "feature.  [default: about a tenth of the rounds in a neighbourhood]",
    ),
    options.processes(1),
    click.option("--list", "list_them", is_flag=True, help="List the methods and exit."),
    options.QUIET,
    click.option("--out", type=click.Path(path_type=Path), help="Output folder.  [required]"),
]


@click.command(name="compare", short_help="Compare online methods on the rounds of a file.")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@options.with_options(_OPTIONS)
def compare_command(
    file: Path | None,
    methods: tuple[str, ...] | None,
    features: tuple[str, ...] | None,
    score: str | None,
    loss: str | None,
    width: str | None,
    group: str | None,
    alpha: tuple[float, ...] | None,
    delay: str,
    loss_bound: float,
    kernel: str | None,
    length_scale: float | tuple[float, ...] | None,
    jobs: int,
    list_them: bool,
    quiet: bool,
    out: Path | None,
) -> None:
    """Compare online methods on FILE, a table as `localarc replay` reads it.

    FILE may also be a TOML file that names a table, its columns and the target.

    Prints a table and writes comparison.csv, comparison.json, comparison.png (if set sizes are
    known) and report.html to the folder OUT. Finished runs are stored in OUT/runs, and an
    interrupted comparison resumes from them.

    \b
    Examples:
      localarc compare scores.csv --features hour,demand --score residual --alpha 0.1 --out arena
      localarc compare scores.csv --features hour --score residual --group season --alpha 0.1 \\
        --methods auto,aci,pid,gcaci,my_method.py:Mine --jobs -1 --out arena
      localarc compare my.toml --out arena
    """
    if list_them:
        _list()
        return
    from localarc.cli.console import warnings_as_notes

    with user_errors():
        from localarc.reporting.files import check_input_survives, staged
        from localarc_lab.compare.report import FILES, write_comparison

        columns: dict[str, Any] = {"score": score, "features": features, "group": group}
        columns |= {"loss": loss, "width": width}
        columns |= {} if loss_bound == 1.0 else {"loss_bound": loss_bound}
        rounds, targets = _rounds(file, columns, alpha)
        if out is None:
            raise ValueError(_REQUIRED)
        check_input_survives(rounds.file, out, FILES)
        with warnings_as_notes():
            stream = rounds.stream()
            delays = _delays(rounds, delay)
            if stream.curves.widths is None:
                click.echo(f"note: {NO_SIZES}.", err=True)
            chosen = _kernel(kernel, length_scale)
            found = _run(stream, methods, targets, delays, chosen, jobs, out / "runs", quiet)
        with staged(out, FILES) as folder, warnings_as_notes():
            written = write_comparison(found, folder, _command())
    if not quiet:
        _print(found, [out / path.name for path in written])


def _run(
    stream: Stream,
    methods: tuple[str, ...] | None,
    alpha: tuple[float, ...],
    delays: int | FloatArray,
    kernel: Kernel | None,
    jobs: int,
    folder: Path,
    quiet: bool,
) -> Comparison:
    """Compare, with a progress bar on a terminal."""
    from localarc.cli.console import task_bar
    from localarc_lab.compare import compare

    with resumable(folder, ".record"), task_bar(quiet) as progress:
        return compare(
            methods or _default(kernel),
            stream,
            alpha=alpha,
            delay=delays,
            kernel=kernel,
            jobs=jobs,
            folder=folder,
            progress=progress,
        )


def _list() -> None:
    from localarc_lab.compare.methods import KNOWN

    for name, known in KNOWN.items():
        needs = f" (requires {known.needs})" if known.needs else ""
        click.echo(f"{name:16}{known.title}{needs}")


def _default(kernel: Kernel | None) -> tuple[str, ...]:
    from localarc_lab.compare.methods import DEFAULT

    return DEFAULT if kernel is None else ("larc", *DEFAULT)


def _kernel(name: str | None, length_scale: float | tuple[float, ...] | None) -> Kernel | None:
    """The kernel of L-ARC, if one is named."""
    if name is None and length_scale is None:
        return None
    return KERNELS[name or "rbf"](1.0 if length_scale is None else length_scale)


def _rounds(
    file: Path | None, columns: dict[str, Any], alpha: tuple[float, ...] | None
) -> tuple[StreamFile, tuple[float, ...]]:
    """The rounds of a table whose columns the options name, or of a TOML file; and the targets."""
    from localarc.streams import StreamFile

    stated = {name: value for name, value in columns.items() if value is not None}
    if file is not None and file.suffix.lower() == ".toml":
        if stated:
            option = f"--{next(iter(stated)).replace('_', '-')}"
            raise ValueError(f"{file} describes the columns: remove {option}, or pass the table.")
        rounds = StreamFile.read(file)
        return rounds, alpha or (rounds.alpha,)
    if file is None or "score" not in stated or alpha is None:
        raise ValueError(_REQUIRED)
    return StreamFile(file.stem, file, **stated), alpha


def _delays(rounds: StreamFile, delay: str) -> int | FloatArray:
    """A number of rounds, or those of a column."""
    from localarc.streams import read_table

    if delay.isdecimal():
        return int(delay)
    return read_table(rounds.file, (delay,), rounds.score).X[:, 0]


def _command() -> str:
    return shlex.join(["localarc", *sys.argv[1:]])


def _print(found: Comparison, paths: list[Path]) -> None:
    from localarc.cli.console import print_rows
    from localarc_lab.compare.report import READING

    if found.reused:
        click.echo(f"reused {found.reused} stored run(s)")
    for alpha in found.targets:
        print_rows(f"{found.stream}, target {alpha:g}", *found.table(alpha))
    click.echo(READING)
    for path in paths:
        click.echo(f"wrote {path}")
