"""`localarc arena`: every method on every stream of the suite, and the standings."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localarc.cli import options
from localarc.cli.group import resumable, user_errors

if TYPE_CHECKING:
    from localarc_lab.arena import Entry, Standings


@click.command(name="arena", short_help="Compare online methods on a fixed suite of streams.")
@click.option(
    "--quick", is_flag=True, help="Use at most 1,000 rounds of each stream, and not 8,000."
)
@click.option(
    "--methods",
    callback=options.names,
    metavar="A,B",
    help="Names of methods, which compare --list shows, or classes of your own such as "
    "my_method.py:Mine.  [default: all that have a name]",
)
@click.option(
    "--streams",
    callback=options.names,
    metavar="A,B",
    help="Names of streams, which --list shows, or files of your own such as my.toml.  "
    "[default: the whole suite]",
)
@options.processes(-1)
@click.option("--list", "list_them", is_flag=True, help="List the streams and exit.")
@options.QUIET
@click.option(
    "--out", type=click.Path(path_type=Path), default="localarc-arena", help="Output folder."
)
def arena_command(
    quick: bool,
    methods: tuple[str, ...] | None,
    streams: tuple[str, ...] | None,
    jobs: int,
    list_them: bool,
    quiet: bool,
    out: Path,
) -> None:
    """Run online methods on the streams of the arena, and print the standings.

    Writes arena.csv, arena.json, arena.png and report.html to the folder OUT. Finished runs are
    stored in OUT/runs, and an interrupted arena resumes from them. Data are downloaded as by
    `localarc data get`; a stream whose data cannot be had is left out, with the reason.

    \b
    Examples:
      localarc arena --quick
      localarc arena --streams flights,rain --methods auto,aci,my_method.py:Mine --out mine
      localarc arena --streams my.toml
    """
    if list_them:
        _list()
        return
    from localarc.cli.console import task_bar, warnings_as_notes

    with user_errors():
        from localarc.reporting.files import staged
        from localarc_lab.arena import run
        from localarc_lab.arena.report import FILES, write_arena

        runs = out / "runs"
        with warnings_as_notes(), resumable(runs, ".record"), task_bar(quiet) as progress:
            found = run(
                methods, _entries(streams), quick=quick, jobs=jobs, folder=runs, progress=progress
            )
        with staged(out, FILES) as folder, warnings_as_notes():
            written = write_arena(found, folder, shlex.join(["localarc", *sys.argv[1:]]))
    for name, why in found.left_out.items():
        click.echo(f"note: {name} is left out: {why}", err=True)
    if not quiet:
        _print(found, [out / path.name for path in written])


def _entries(streams: tuple[str, ...] | None) -> list[str | Entry] | None:
    """Names of the suite as they are, and files as entries."""
    from localarc_lab.arena import Entry

    if streams is None:
        return None
    return [Entry.read(name) if name.endswith(".toml") else name for name in streams]


def _list() -> None:
    from localarc_lab.arena import SUITE

    for entry in SUITE.values():
        click.echo(f"{entry.name}: {entry.title}")
        click.echo(f"  base model: {entry.model}; groups: {entry.groups}; target {entry.alpha:g}")
        data = f"; data: localarc data get {entry.data}" if entry.data else ""
        click.echo(f"  licence: {entry.licence}{data}")


def _print(found: Standings, paths: list[Path]) -> None:
    from localarc.cli.console import print_rows
    from localarc_lab.arena.report import OURS, SUMMARY_READING

    if found.reused:
        click.echo(f"reused {found.reused} stored run(s)")
    rounds = "at most 1,000 rounds each" if found.quick else "at most 8,000 rounds each"
    print_rows(f"{len(found.comparisons)} stream(s), {rounds}", *found.summary())
    click.echo(SUMMARY_READING)
    for method in [each for each in OURS if each in found.methods]:
        print_rows(f"where {method} is beaten", *found.beaten_by(method))
    for path in paths:
        click.echo(f"wrote {path}")
