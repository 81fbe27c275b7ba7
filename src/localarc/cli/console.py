"""The console: tables, a progress bar and notes for people at a terminal."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from localarc.reporting.assessment import Assessment
from localarc.reporting.format import number, plus_minus, promised, score_words

_LONG = 3000  # rounds from which on waiting deserves a progress bar
_MOST_GROUPS = 20
_STEP = 256
_WIDE = 160


def print_tables(assessments: Sequence[Assessment]) -> None:
    """Risk, target and bound of each method, then risk and set size by group."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE  # in a file or a pipe, nothing forces a row to wrap
    console.print(_methods(assessments))
    if assessments[0].groups:
        console.print(_groups(assessments))
    console.print(escape(score_words(assessments[0])), soft_wrap=True)


def _methods(assessments: Sequence[Assessment]) -> Table:
    table = _table("method", "rounds", "risk", "target", "bound on |risk - target|", "mean size")
    for each in assessments:
        certificate = each.certificate
        table.add_row(
            escape(each.run.name),
            f"{certificate.rounds:,}",
            f"{certificate.risk:.4f}",
            f"{certificate.alpha:g}",
            promised(certificate.bound),
            number(each.size),
        )
    return table


def _groups(assessments: Sequence[Assessment]) -> Table:
    """Groups from the safest to the riskiest; the riskiest only, where there are many."""
    columns = [f"{what}, {each.run.name}" for each in assessments for what in ("risk", "size")]
    table = _table("group", "rounds", *columns)
    by_group = [{row.group: row for row in each.groups} for each in assessments]
    rows = assessments[0].groups
    for row in rows[-_MOST_GROUPS:]:
        cells = [escape(str(row.group)), f"{row.count:,}"]
        for groups in by_group:
            mine = groups[row.group]
            cells += [plus_minus(mine.risk, mine.standard_error), number(mine.size)]
        table.add_row(*cells)
    if len(rows) > _MOST_GROUPS:
        table.caption = f"{len(rows) - _MOST_GROUPS} groups of lower risk are left out"
    return table


def _table(first: str, *rest: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(first)
    for name in rest:
        table.add_column(escape(name), justify="right")
    return table


def print_rows(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Any table, with a title."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    table = _table(*map(escape, head))
    table.title, table.title_justify = escape(title), "left"
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)


@contextlib.contextmanager
def task_bar(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error that counts finished tasks, if somebody is looking."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("running", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextlib.contextmanager
def progress_bar(what: str, rounds: int, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """A bar on standard error while a long input is replayed, if somebody is looking."""
    console = Console(stderr=True)
    if quiet or rounds < _LONG or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    waiting = 0

    def advance(done: int) -> None:  # a bar that moves with every round would cost more than it
        nonlocal waiting
        waiting += done
        if waiting >= _STEP:
            bar.advance(task, waiting)
            waiting = 0

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=rounds)
        yield advance


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Each kind of warning once, as one line on standard error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(each.message) for each in caught):
        click.echo(f"note: {text}", err=True)
